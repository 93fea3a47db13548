import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { onChange } from "../../api/events.ts";
import { canWrite } from "../../api/login.ts";
import { createResource } from "../../state/resource.ts";
import { sessionHref } from "../../state/router.ts";
import { Choice, Fault } from "../../ui/basics.tsx";
import { count, formatNumber } from "../../ui/format.ts";
import { sessionTitle } from "../../ui/session-title.ts";
import { WindowBar } from "./bar.tsx";
import { SentMessages, TraceList } from "./items.tsx";
import { compareViews, listParts } from "./parts.ts";
import { type ContextState, createContextState } from "./state.ts";
import "../session/session.css";
import "./context.css";

const tabs = [
  ["why", "Why each piece is here"],
  ["left", "What was left out"],
  ["sent", "Exactly what is sent"],
] as const;
const waitMs = 250;

export function ContextPage({ session: key }: { session: string }) {
  const state = useSignal(createContextState(key)).value;
  const info = useSignal(
    createResource((signal) => call("GET /api/sessions/{key}", { params: { key }, signal })),
  ).value;
  const tab = useSignal<(typeof tabs)[number][0]>("why");
  useEffect(() => {
    void info.load();
    return onChange(
      ["messages.appended", "compaction"],
      () => void state.load(),
      () => info.data.value?.key,
    );
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => void state.load(), state.view.data.value ? waitMs : 0);
    return () => clearTimeout(timer);
  }, [state.budget.value, state.prompt.value]);
  const view = state.view.data.value;
  const budget = state.budget.value ?? view?.windowTokens ?? 0;
  const included = view?.trace.filter((item) => item.in) ?? [];
  const omitted = view?.trace.filter((item) => !item.in) ?? [];
  return (
    <>
      <header>
        <p class="small">
          <a href={sessionHref(key)}>{info.data.value ? sessionTitle(info.data.value) : "Session"}</a>
        </p>
        <h1>What the model sees</h1>
      </header>
      <div class="stack">
        <Trial state={state} />
        <Fault text={state.view.error.value} onRetry={() => void state.load()} />
        {view && (
          <>
            <p role="status">
              <strong>{formatNumber(view.estimatedTokens)}</strong> of {formatNumber(budget)} tokens:{" "}
              {count(view.messages.length, "message")} as sent, {count(included.length, "piece")} included,{" "}
              {formatNumber(omitted.length)} left out.
            </p>
            <WindowBar parts={listParts(view, budget)} label="The window by its parts" />
            <Comparison state={state} />
            <Choice name="What to show" value={tab.value} options={tabs} onChange={(value) => (tab.value = value)} />
            {tab.value === "why" && <TraceList session={key} items={included} />}
            {tab.value === "left" &&
              (omitted.length === 0 ? (
                <p class="soft">
                  Nothing was left out: the whole conversation is in the window or stands in a summary of it.
                </p>
              ) : (
                <TraceList session={key} items={omitted} />
              ))}
            {tab.value === "sent" && <SentMessages view={view} />}
          </>
        )}
      </div>
    </>
  );
}

/** Another budget and another prompt, without writing anything. */
function Trial({ state }: { state: ContextState }) {
  const view = state.view.data.value;
  const most = Math.max(view?.windowTokens ?? 200_000, 4_000);
  const budget = state.budget.value ?? view?.windowTokens ?? most;
  return (
    <section class="card trial" aria-label="Try another window">
      <label class="field">
        <span>
          Budget: {formatNumber(budget)} tokens{state.budget.value === undefined ? " (the window of the settings)" : ""}
        </span>
        <input
          type="range"
          min={Math.log2(1_000)}
          max={Math.log2(most)}
          step={0.05}
          value={Math.log2(Math.max(1_000, budget))}
          aria-valuetext={`${formatNumber(budget)} tokens`}
          onInput={(event) => {
            state.budget.value = Math.round(2 ** Number(event.currentTarget.value));
          }}
        />
      </label>
      <label class="field budget-field">
        <span>Tokens</span>
        <input
          class="input"
          type="number"
          min={256}
          step={1}
          value={budget}
          onInput={(event) => {
            const wanted = Math.round(Number(event.currentTarget.value));
            if (wanted >= 256) state.budget.value = wanted;
          }}
        />
      </label>
      <label class="field">
        <span>Prompt: what the person would say next</span>
        <textarea
          class="input"
          rows={2}
          placeholder="For example: What did we decide about the database?"
          value={state.prompt.value}
          onInput={(event) => {
            state.prompt.value = event.currentTarget.value;
          }}
        />
      </label>
      <div class="row">
        <span class="soft small grow">Trying writes nothing.</span>
        {(state.budget.value !== undefined || state.prompt.value !== "") && (
          <button
            type="button"
            class="button"
            onClick={() => {
              state.budget.value = undefined;
              state.prompt.value = "";
            }}
          >
            As it is now
          </button>
        )}
        {canWrite() && (
          <button
            type="button"
            class="button"
            disabled={state.isCompacting.value}
            onClick={() => void state.compactNow()}
          >
            {state.isCompacting.value ? "Compacting…" : "Compact now"}
          </button>
        )}
      </div>
    </section>
  );
}

/** The effect of the last change on the window. */
function Comparison({ state }: { state: ContextState }) {
  const [before, after] = [state.before.value, state.view.data.value];
  if (!before || !after || before === after) return null;
  const { added, removed } = compareViews(before, after);
  if (added.length === 0 && removed.length === 0) return null;
  return (
    <details class="notice compare">
      <summary>
        Compared with before: {formatNumber(before.estimatedTokens)} to {formatNumber(after.estimatedTokens)} tokens,{" "}
        {count(added.length, "piece")} came in, {formatNumber(removed.length)} left
      </summary>
      <ul class="plain small">
        {added.slice(0, 100).map((name) => (
          <li key={name}>+ {name}</li>
        ))}
        {removed.slice(0, 100).map((name) => (
          <li key={name}>− {name}</li>
        ))}
        {added.length + removed.length > 200 && <li>and more</li>}
      </ul>
    </details>
  );
}
