import { TinyCore } from "../../core/tiny.tsx";
import { sessionHref } from "../../state/router.ts";
import { Time } from "../../ui/basics.tsx";
import { count } from "../../ui/format.ts";
import { sessionTitle } from "../../ui/session-title.ts";
import { recent } from "./state.ts";

/** The sessions that were used last, each with its core. */
export function Recent() {
  const data = recent.data.value;
  if (!data || data.sessions.length === 0) return null;
  const cores = new Map(data.cores.map((core) => [core.key, core]));
  return (
    <section class="card" aria-label="Recent sessions">
      <div class="spread">
        <h2>Recent sessions</h2>
        <a class="small" href="/sessions">
          All sessions
        </a>
      </div>
      <ul class="plain recent">
        {data.sessions.map((session) => (
          <li key={session.key}>
            <TinyCore core={cores.get(session.key)} />
            <a class="grow" href={sessionHref(session.key)}>
              {sessionTitle(session)}
            </a>
            <span class="soft small">{count(session.messageCount, "message")}</span>
            <span class="soft small">
              <Time value={session.lastInteractionAt || session.updatedAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
