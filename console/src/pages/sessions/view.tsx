import { useEffect, useRef } from "preact/hooks";
import { onChange } from "../../api/events.ts";
import { canWrite } from "../../api/login.ts";
import { setQuery } from "../../state/router.ts";
import { Choice, Empty, Fault } from "../../ui/basics.tsx";
import { pageKeys } from "../../ui/keys.ts";
import { useVirtual } from "../../ui/virtual.ts";
import { createSession } from "./actions.ts";
import { SessionRow } from "./row.tsx";
import { fault, filter, hasMore, loadMore, loadSessions, rows, sessions } from "./state.ts";
import "./sessions.css";

const sorts = [
  ["recent", "Last use"],
  ["name", "Name"],
  ["messages", "Messages"],
  ["tokens", "Tokens"],
  ["created", "Created"],
] as const;
const rowPixels = 68;

export function SessionsPage() {
  const { match, sort, channel } = filter.value;
  useEffect(() => {
    pageKeys.value = [
      ["↑ ↓", "Move in the list"],
      ["Enter", "Open the session"],
      ["n", "New session"],
    ];
  }, []);
  useEffect(() => void loadSessions(), [match, sort, channel]);
  useEffect(
    () =>
      onChange(
        [
          "session.created",
          "session.updated",
          "session.renewed",
          "session.restored",
          "session.deleted",
          "messages.appended",
          "compaction",
          "import.ended",
        ],
        () => void loadSessions(),
      ),
    [],
  );
  return (
    <>
      <header class="spread">
        <h1>Sessions</h1>
        {canWrite() && (
          <button type="button" class="button primary" onClick={() => void createSession(() => void loadSessions())}>
            New session
          </button>
        )}
      </header>
      <div class="row sessions-filter">
        <input
          class="input grow"
          type="search"
          aria-label="Filter sessions by name, key or folder"
          placeholder="Filter by name, key or folder"
          value={match}
          onInput={(event) => setQuery({ match: event.currentTarget.value })}
        />
        <Choice
          name="Order"
          value={sort as (typeof sorts)[number][0]}
          options={sorts}
          onChange={(value) => setQuery({ sort: value === "recent" ? "" : value })}
        />
        {channel !== "" && (
          <button type="button" class="chip on" onClick={() => setQuery({ channel: "" })}>
            {channel} ×
          </button>
        )}
      </div>
      <Fault text={fault.value} onRetry={() => void loadSessions()} />
      <SessionRows />
    </>
  );
}

function SessionRows() {
  const scroller = useRef<HTMLDivElement>(null);
  const list = rows.value;
  const virtual = useVirtual({
    count: list.length,
    scroller,
    estimateSize: () => rowPixels,
    getKey: (index) => list[index]?.session.key ?? index,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore.value && last >= list.length - 20) void loadMore();
  }, [last, list.length]);
  if (sessions.value !== undefined && list.length === 0) {
    return filter.value.match === "" && filter.value.channel === "" ? (
      <Empty title="No sessions yet">
        <p>Import a history on the first page, or talk to the agent: each conversation appears here.</p>
        <a class="button" href="/">
          Import a history
        </a>
      </Empty>
    ) : (
      <Empty title="No session matches">
        <p>The filter looks at names, keys and folders. To find words in messages, use the search.</p>
        <a class="button" href={`/search?q=${encodeURIComponent(filter.value.match)}`}>
          Search for “{filter.value.match}”
        </a>
      </Empty>
    );
  }
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const links = [...(scroller.current?.querySelectorAll<HTMLElement>("a.session-link") ?? [])];
    const at = links.findIndex((link) => link.matches(":focus"));
    links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the links inside
    <div class="virtual sessions-list" ref={scroller} onKeyDown={move}>
      <ul class="plain virtual-space" style={{ height: `${virtual.getTotalSize()}px` }} aria-label="Sessions">
        {items.map((item) => {
          const row = list[item.index];
          return row && <SessionRow key={item.key} row={row} start={item.start} />;
        })}
      </ul>
    </div>
  );
}
