import { activity, type LiveEvent } from "../../api/events.ts";
import { sessionHref } from "../../state/router.ts";
import { Time } from "../../ui/basics.tsx";
import { describeKey } from "../../ui/session-title.ts";

const texts: Readonly<Record<string, string>> = {
  "messages.appended": "New messages",
  "session.created": "Session opened",
  "person.unknown": "Somebody new wrote",
  "session.updated": "Session changed",
  "session.renewed": "Session renewed",
  "session.restored": "Session restored",
  "session.deleted": "Session deleted",
  compaction: "Compacted",
  "job.failed": "A job failed",
  "hook.failed": "A hook failed",
  memories: "Memories learned",
  "memories.changed": "Memories changed",
  "jobs.changed": "Jobs changed",
  "turn.ended": "Turn ended",
  "turn.failed": "Turn failed",
  "import.ended": "Import ended",
};

export function Activity() {
  const shown = activity.value.filter(({ type }) => type in texts).slice(0, 12);
  return (
    <section class="card" aria-label="Live activity">
      <h2>Live</h2>
      {shown.length === 0 ? (
        <p class="soft small">What happens while this page is open appears here at once.</p>
      ) : (
        <ol class="plain activity">
          {shown.map((event) => (
            <li key={`${event.type} ${event.time} ${event.key}`}>
              <span>{texts[event.type]}</span> <Place event={event} />
              <span class="soft">
                <Time value={event.time} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Place({ event }: { event: LiveEvent }) {
  if (!event.key.includes(":")) return <span class="soft">{event.key}</span>;
  if (event.type === "session.deleted") return <span>{describeKey(event.key)}</span>;
  return <a href={sessionHref(event.key)}>{describeKey(event.key)}</a>;
}
