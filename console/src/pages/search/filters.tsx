import { useSignal } from "@preact/signals";
import { setQuery } from "../../state/router.ts";
import { Choice } from "../../ui/basics.tsx";
import { describeKey } from "../../ui/session-title.ts";
import { state } from "./state.ts";

const kinds = [
  ["", "Everything"],
  ["message", "Messages"],
  ["summary", "Summaries"],
  ["memory", "Memories"],
  ["chunk", "Notes"],
  ["file", "Files"],
] as const;
const modes = [
  ["both", "Words and meaning"],
  ["words", "Words"],
  ["meaning", "Meaning"],
  ["regex", "Regular expression"],
] as const;
const roles = [
  ["", "Anybody"],
  ["user", "Person"],
  ["assistant", "Assistant"],
  ["tool", "Tool"],
] as const;

export function Filters() {
  const { kind, mode, role, session, person, scope, since, before, asOf } = state.value;
  const isOpen = useSignal(since !== "" || before !== "" || asOf !== "" || role !== "" || scope !== "");
  return (
    <div class="filters">
      <div class="filter-chips">
        <Choice
          name="How to search"
          value={mode}
          options={modes}
          onChange={(value) => setQuery({ mode: value === "both" ? "" : value }, false)}
        />
        <Choice name="Kind" value={kind as ""} options={kinds} onChange={(value) => setQuery({ kind: value }, false)} />
        <span class="chips">
          {session !== "" && (
            <button type="button" class="chip on" onClick={() => setQuery({ session: "" })}>
              In: {describeKey(session)} ×
            </button>
          )}
          {person !== "" && (
            <button type="button" class="chip on" onClick={() => setQuery({ person: "" })}>
              By: {person} ×
            </button>
          )}
          <button
            type="button"
            class="chip"
            aria-expanded={isOpen.value}
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            {isOpen.value ? "Fewer filters" : "More filters"}
          </button>
        </span>
      </div>
      <div class="filter-fields" hidden={!isOpen.value}>
        <div class="field">
          <span>Who said it</span>
          <Choice
            name="Role"
            value={role as ""}
            options={roles}
            onChange={(value) => setQuery({ role: value }, false)}
          />
        </div>
        <DateField name="since" label="From" value={since} />
        <DateField name="before" label="Until" value={before} />
        <DateField name="asOf" label="As known on" value={asOf} />
        <label class="field">
          <span>Memory scope</span>
          <input
            class="input"
            value={scope}
            placeholder="global"
            onChange={(event) => setQuery({ scope: event.currentTarget.value })}
          />
        </label>
      </div>
    </div>
  );
}

function DateField({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        class="input"
        type="date"
        value={value}
        onChange={(event) => setQuery({ [name]: event.currentTarget.value }, false)}
      />
    </label>
  );
}
