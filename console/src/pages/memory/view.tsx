import { useEffect } from "preact/hooks";
import { onChange } from "../../api/events.ts";
import { canWrite } from "../../api/login.ts";
import { setQuery } from "../../state/router.ts";
import { Choice, Empty, Fault, Time } from "../../ui/basics.tsx";
import { count, formatDay, formatNumber } from "../../ui/format.ts";
import { isTyping, pageKeys } from "../../ui/keys.ts";
import { exportMemories } from "./actions.ts";
import { MemoryDetail } from "./detail.tsx";
import { MemoryForm } from "./form.tsx";
import { ConflictPanel, ReviewPanel } from "./review.tsx";
import { draft, filter, list, loadAll, loadMore, opened, openedId, stats } from "./state.ts";
import "./memory.css";

const dayMs = 86_400_000;
const sliderDays = 730;

export function MemoryPage() {
  const { query, category, scope, asOf } = filter.value;
  useEffect(() => {
    pageKeys.value = [
      ["n", "Remember something new"],
      ["a r", "Approve or reject the chosen fact (in the review)"],
    ];
    void loadAll();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "n" || isTyping(event) || event.ctrlKey || event.metaKey || !canWrite()) return;
      event.preventDefault();
      draft.value = { text: "" };
    };
    addEventListener("keydown", onKey);
    const stop = onChange(["memories", "memories.changed"], () => void loadAll());
    return () => {
      removeEventListener("keydown", onKey);
      stop();
    };
  }, []);
  useEffect(() => void list.load(), [query, category, scope, asOf]);
  useEffect(() => {
    if (openedId.value !== undefined) void opened.load();
  }, [openedId.value]);
  return (
    <>
      <header class="spread">
        <div>
          <h1>What is believed</h1>
          {stats.data.value && (
            <p class="soft small">
              {count(stats.data.value.current, "memory", "memories")} believed, {formatNumber(stats.data.value.history)}{" "}
              earlier versions, {formatNumber(stats.data.value.forgotten)} forgotten
            </p>
          )}
        </div>
        <div class="row">
          <button type="button" class="button" onClick={() => exportMemories(list.data.value?.memories ?? [])}>
            Export the list
          </button>
          {canWrite() && (
            <button type="button" class="button primary" onClick={() => (draft.value = { text: "" })}>
              Remember
            </button>
          )}
        </div>
      </header>
      <MemoryFilters />
      <Fault text={list.error.value} onRetry={() => void list.load()} />
      <div class={`memory-columns ${openedId.value === undefined ? "" : "open"}`}>
        <div class="stack">
          <ReviewPanel />
          <ConflictPanel />
          <MemoryList />
        </div>
        {openedId.value !== undefined && <MemoryDetail />}
      </div>
      {draft.value && <MemoryForm />}
    </>
  );
}

function MemoryFilters() {
  const { query, category, scope, asOf } = filter.value;
  const { byCategory = {}, byScope = {} } = stats.data.value ?? {};
  const categories = [
    ["", "All"],
    ...Object.entries(byCategory).map(([name, n]) => [name, `${name} ${formatNumber(n)}`]),
  ];
  const scopes = [
    ["", "Every scope"],
    ...Object.entries(byScope).map(([name, n]) => [name, `${name} ${formatNumber(n)}`]),
  ];
  const daysAgo = asOf === "" ? 0 : Math.round((Date.now() - Date.parse(`${asOf}T12:00:00`)) / dayMs);
  return (
    <div class="stack memory-filters">
      <input
        class="input"
        type="search"
        aria-label="Find memories"
        placeholder="Find memories by words or meaning"
        value={query}
        onInput={(event) => setQuery({ q: event.currentTarget.value })}
      />
      <Choice
        name="Category"
        value={category}
        options={categories as [string, string][]}
        onChange={(value) => setQuery({ category: value })}
      />
      {Object.keys(byScope).length > 1 && (
        <Choice
          name="Scope"
          value={scope}
          options={scopes as [string, string][]}
          onChange={(value) => setQuery({ scope: value })}
        />
      )}
      <label class="field as-of">
        <span>As of {asOf === "" ? "today" : formatDay(Date.parse(`${asOf}T12:00:00`))}</span>
        <input
          type="range"
          min={-sliderDays}
          max={0}
          value={-daysAgo}
          aria-valuetext={asOf === "" ? "today" : asOf}
          onInput={(event) => {
            const days = -Number(event.currentTarget.value);
            setQuery({ asOf: days === 0 ? "" : new Date(Date.now() - days * dayMs).toISOString().slice(0, 10) });
          }}
        />
      </label>
    </div>
  );
}

function MemoryList() {
  const data = list.data.value;
  if (!data) return null;
  if (data.memories.length === 0) {
    return (
      <Empty title={filter.value.query === "" ? "Nothing is believed yet" : "No memory matches"}>
        <p>Facts are learned from conversations, or stored with “Remember”. Each keeps its evidence.</p>
      </Empty>
    );
  }
  return (
    <>
      <ul class="plain memories">
        {data.memories.map((memory) => (
          <li key={memory.id} class={memory.id === openedId.value ? "chosen" : ""}>
            <button type="button" class="memory-link" onClick={() => setQuery({ id: memory.id }, false)}>
              {memory.abstract}
            </button>
            <div class="memory-facts">
              <span class="tag">{memory.category}</span>
              <span class={`tag tier-${memory.tier}`}>{memory.tier}</span>
              <span class="soft small">{memory.scope}</span>
              {memory.relations.some(({ kind }) => kind !== "contextualizes") && (
                <span class="tag warn">contradicted</span>
              )}
              {memory.tentativeUntil !== undefined && <span class="tag warn">waits</span>}
              <span class="strength" title={`Importance ${memory.importance}`}>
                <span style={{ width: `${memory.importance * 100}%` }} />
              </span>
              <span class="soft small">
                <Time value={memory.validFrom} />
              </span>
            </div>
          </li>
        ))}
      </ul>
      {data.total > data.memories.length && (
        <button type="button" class="button" onClick={() => void loadMore()}>
          Show more of {formatNumber(data.total)}
        </button>
      )}
    </>
  );
}
