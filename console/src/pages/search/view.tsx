import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { navigate, setQuery } from "../../state/router.ts";
import { Empty, Fault } from "../../ui/basics.tsx";
import { count } from "../../ui/format.ts";
import { pageKeys } from "../../ui/keys.ts";
import { Filters } from "./filters.tsx";
import { Result, resultHref } from "./result.tsx";
import { chosen, found, state } from "./state.ts";
import "./search.css";

const waitMs = 180;
const confidences = {
  strong: "This very likely answers the question.",
  weak: "These may be related; none clearly answers the question.",
  none: "Nothing here answers this. The results below are the nearest.",
} as const;

export function SearchPage() {
  const box = useRef<HTMLInputElement>(null);
  const typed = useSignal(state.value.q);
  const current = state.value;
  useEffect(() => {
    box.current?.focus();
    pageKeys.value = [
      ["↑ ↓", "Move between results"],
      ["Enter", "Open the result"],
    ];
  }, []);
  const known = useRef(current.q);
  useEffect(() => {
    // Only when the address changed by itself: what is typed meanwhile stays.
    if (known.current !== current.q && typed.value.trim() !== current.q.trim()) typed.value = current.q;
    known.current = current.q;
  }, [current.q]);
  useEffect(() => {
    chosen.value = 0;
    if (current.q.trim() !== "") void found.load();
  }, [JSON.stringify(current)]);
  useEffect(() => {
    if (typed.value === state.value.q) return;
    const timer = setTimeout(() => setQuery({ q: typed.value }), waitMs);
    return () => clearTimeout(timer);
  }, [typed.value]);
  const results = current.q.trim() === "" ? [] : (found.data.value?.results ?? []);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      chosen.value = Math.max(0, Math.min(results.length - 1, chosen.value + step));
    } else if (event.key === "Enter") {
      const result = results[chosen.value];
      const href = result && typed.value === state.value.q ? resultHref(result) : undefined;
      if (href !== undefined) navigate(href);
      else setQuery({ q: typed.value });
    }
  };
  return (
    <>
      <header>
        <h1 class="visually-hidden">Search</h1>
        <input
          id="search-box"
          ref={box}
          class="input search-box"
          type="search"
          aria-label="Search everything that was said and is known"
          placeholder="What do you look for?"
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
          }}
          onKeyDown={onKeyDown}
        />
        <Filters />
      </header>
      <Fault text={current.q === "" ? undefined : found.error.value} />
      {current.q.trim() === "" ? (
        <Empty title="Ask in your own words">
          <p>
            Messages, summaries, memories, notes and large files are searched together. Every result says why it is
            there.
          </p>
        </Empty>
      ) : (
        <Results />
      )}
    </>
  );
}

function Results() {
  const data = found.data.value;
  if (!data) return <p class="soft">Searching…</p>;
  const { results, confidence, notes, mode } = data;
  return (
    <>
      <p class="result-summary" role="status">
        {results.length === 0 ? "Nothing was found." : count(results.length, "result")}
        {confidence !== undefined && results.length > 0 && <span> {confidences[confidence]}</span>}
        {mode === "lexical" && state.value.mode === "both" && (
          <span> By words only: no embedding model serves here.</span>
        )}
      </p>
      {notes.length > 0 && (
        <ul class="plain results-notes">
          {notes.map((note) => (
            <li key={note} class="notice">
              {note}
            </li>
          ))}
        </ul>
      )}
      {results.length === 0 ? (
        <Empty title="Nothing here answers this">
          <p>Try fewer or other words, or remove a filter.</p>
        </Empty>
      ) : (
        <ol class="plain results">
          {results.map((result, index) => (
            <Result key={`${result.kind} ${result.id}`} result={result} index={index} />
          ))}
        </ol>
      )}
    </>
  );
}
