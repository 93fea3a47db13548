import type { Entry } from "../../../../src/domain/entry.ts";
import { say } from "../../state/toasts.ts";
import { Time } from "../../ui/basics.tsx";
import { count, formatDuration, formatNumber } from "../../ui/format.ts";
import { memo } from "../../ui/memo.ts";
import { MessageBody } from "../../ui/message-body.tsx";
import type { Recall, SessionEntry } from "./queries.ts";

interface EntryProps {
  entry: SessionEntry;
  recall: Recall | undefined;
  isMarked: boolean;
  /** How long the tool took whose result this is. */
  durationMs: number | undefined;
}

const speakers: Readonly<Record<string, string>> = {
  user: "You",
  assistant: "Assistant",
  tool: "Tool",
  system: "System",
};

/** One entry of the transcript. */
export const EntryView = memo(function EntryView({ entry, recall, isMarked, durationMs }: EntryProps) {
  const role = entry.message?.role ?? "event";
  return (
    <article class={`entry role-${role} ${isMarked ? "marked" : ""}`} aria-label={`${role}, msg#${entry.seq}`}>
      <header class="entry-head">
        <strong>{describeSpeaker(entry)}</strong>
        <Time value={entry.time} full />
        {durationMs !== undefined && <span title="From the call to the result">took {formatDuration(durationMs)}</span>}
        <span class="entry-tokens">{formatNumber(entry.tokens)} tokens</span>
        <button type="button" class="citation" title="Copy the citation" onClick={() => void copyCitation(entry.seq)}>
          msg#{entry.seq}
        </button>
      </header>
      {entry.message ? <MessageBody message={entry.message} /> : <EventBody entry={entry} />}
      {recall && <RecallNote recall={recall} />}
    </article>
  );
});

function EventBody({ entry }: { entry: SessionEntry }) {
  const event = entry as unknown as Entry;
  switch (event.type) {
    case "reset":
      return (
        <p class="soft">
          {event.mode === "new" ? "A new session began" : "The conversation was reset"} ({event.reason}).
        </p>
      );
    case "model_change":
      return <p class="soft">Model: {[event.provider, event.model].filter(Boolean).join("/")}</p>;
    case "compaction":
    case "branch_summary":
      return <MessageBody message={{ content: event.summary }} />;
    default:
      return null;
  }
}

function RecallNote({ recall }: { recall: Recall }) {
  return (
    <details class="recall-note">
      <summary>
        Recalled here: {recall.memories.length > 0 ? count(recall.memories.length, "memory", "memories") : "passages"},{" "}
        {formatNumber(recall.tokens)} tokens
      </summary>
      <pre tabIndex={0}>{recall.block}</pre>
      {recall.memories
        .filter((id) => id.startsWith("mem_"))
        .map((id) => (
          <a key={id} class="tag" href={`/memory?id=${id}`}>
            {id}
          </a>
        ))}
    </details>
  );
}

function describeSpeaker({ type, message }: SessionEntry): string {
  if (!message) return type === "compaction" ? "Compaction" : type === "reset" ? "Session" : "Note";
  const who = speakers[message.role] ?? message.role;
  return message.name ? `${message.name} (${message.role})` : who;
}

async function copyCitation(seq: number): Promise<void> {
  await navigator.clipboard.writeText(`msg#${seq}`);
  say(`Copied msg#${seq}.`);
}
