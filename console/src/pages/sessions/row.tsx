import { canWrite } from "../../api/login.ts";
import { TinyCore } from "../../core/tiny.tsx";
import { sessionHref, setQuery } from "../../state/router.ts";
import { attempt } from "../../state/toasts.ts";
import { Time } from "../../ui/basics.tsx";
import { count, formatCompact } from "../../ui/format.ts";
import { Menu } from "../../ui/menu.tsx";
import { sessionTitle } from "../../ui/session-title.ts";
import { deleteSession, forkSession, renameSession, renewSession, undoRenewal } from "./actions.ts";
import type { ListedSession } from "./queries.ts";
import { children, cores, loadSessions, toggleChildren } from "./state.ts";

export function SessionRow({ row, start }: { row: { session: ListedSession; level: number }; start: number }) {
  const { session, level } = row;
  const { subagents = 0 } = session;
  const isOpen = children.value.has(session.key);
  return (
    <li class={`virtual-item session-row ${level > 0 ? "child" : ""}`} style={{ transform: `translateY(${start}px)` }}>
      <TinyCore core={cores.value.get(session.key)} />
      <div class="grow">
        <a class="session-link" href={sessionHref(session.key)}>
          {sessionTitle(session)}
        </a>
        <div class="session-facts">
          {session.channel !== undefined && (
            <button type="button" class="tag" onClick={() => setQuery({ channel: session.channel })}>
              {session.channel}
            </button>
          )}
          {session.cwd !== undefined && (
            <span class="mono cwd" title={session.cwd}>
              {lastFolder(session.cwd)}
            </span>
          )}
          <span>{count(session.messageCount, "message")}</span>
          {session.totalTokens > 0 && <span class="wide">{formatCompact(session.totalTokens)} tokens used</span>}
          <Time value={session.lastInteractionAt || session.updatedAt} />
        </div>
      </div>
      {subagents > 0 && (
        <button
          type="button"
          class="chip"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? "Hide" : "Show"} ${count(subagents, "sub-agent")} of ${sessionTitle(session)}`}
          onClick={() => void attempt(() => toggleChildren(session.key))}
        >
          {isOpen ? "▾" : "▸"} {subagents}
        </button>
      )}
      <SessionMenu session={session} onDone={() => void loadSessions()} />
    </li>
  );
}

export function SessionMenu({ session, onDone }: { session: ListedSession; onDone: () => void }) {
  const exportHref = (format: string) => `/api/sessions/${encodeURIComponent(session.key)}/export?format=${format}`;
  const writes = [
    { label: "Rename", run: () => renameSession(session, onDone) },
    { label: "New session id", run: () => renewSession(session, "new", onDone) },
    { label: "Reset", run: () => renewSession(session, "reset", onDone) },
    { label: "Undo the last reset", run: () => undoRenewal(session.key, onDone) },
    { label: "Fork", run: () => forkSession(session) },
  ];
  const items = [
    ...(canWrite() ? writes : []),
    { label: "Export as JSON lines", href: exportHref("jsonl") },
    { label: "Export as Markdown", href: exportHref("markdown") },
    { label: "Export as HTML", href: exportHref("html") },
    ...(canWrite() ? [{ label: "Delete…", run: () => deleteSession(session, onDone), isDangerous: true }] : []),
  ];
  return <Menu label={`Actions for ${sessionTitle(session)}`} items={items} />;
}

function lastFolder(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}
