import { useSignal } from "@preact/signals";
import { explainError } from "../../api/client.ts";
import { say } from "../../state/toasts.ts";
import { Fault } from "../../ui/basics.tsx";
import { count } from "../../ui/format.ts";
import { type Setting, setSetting } from "./queries.ts";
import { settings } from "./state.ts";

const shownMax = 60;

export function SettingsPanel() {
  const match = useSignal("");
  const words = match.value.trim().toLowerCase();
  const all = settings.data.value ?? [];
  const changed = all.filter(({ source }) => source !== "default");
  const matching = all.filter(({ key, description }) => `${key} ${description}`.toLowerCase().includes(words));
  const isChangedOnly = words === "" && changed.length > 0;
  const found = isChangedOnly ? changed : matching;
  return (
    <>
      <input
        class="input"
        type="search"
        aria-label="Find settings"
        placeholder="Find settings by name or meaning"
        value={match.value}
        onInput={(event) => {
          match.value = event.currentTarget.value;
        }}
      />
      <Fault text={settings.error.value} />
      <p class="soft small">
        {isChangedOnly
          ? `${count(found.length, "setting differs", "settings differ")} from the default; find others by name`
          : count(found.length, "setting")}
        . A change is checked, then written to config.yaml; the gateway uses it from its next start on.
      </p>
      <ul class="plain settings">
        {found.slice(0, shownMax).map((setting) => (
          <SettingRow key={setting.key} setting={setting} />
        ))}
        {found.length > shownMax && (
          <li class="soft">and {found.length - shownMax} more; add a word to narrow it down</li>
        )}
      </ul>
    </>
  );
}

function SettingRow({ setting }: { setting: Setting }) {
  const isOpen = useSignal(false);
  const text = useSignal("");
  const fault = useSignal<string | undefined>(undefined);
  const shown = printValue(setting.value);
  const check = async (value: string) => {
    text.value = value;
    try {
      await setSetting(setting.key, value, true);
      fault.value = undefined;
    } catch (error) {
      fault.value = explainError(error);
    }
  };
  const write = async (value: string | null) => {
    try {
      const done = await setSetting(setting.key, value, false);
      isOpen.value = false;
      const before = setting.source.startsWith("file") ? shown : null;
      const undo = setting.secret ? undefined : { label: "Undo", run: () => void write(before) };
      say(`${setting.key} is ${printValue(done.value)}${done.needsRestart ? " from the next start on" : ""}.`, undo);
      await settings.load();
    } catch (error) {
      fault.value = explainError(error);
    }
  };
  return (
    <li>
      <div class="spread">
        <code>{setting.key}</code>
        <button
          type="button"
          class="chip"
          aria-expanded={isOpen.value}
          aria-label={`Change ${setting.key}`}
          onClick={() => {
            isOpen.value = !isOpen.value;
            text.value = setting.secret ? "" : shown;
            fault.value = undefined;
          }}
        >
          Change
        </button>
      </div>
      <p class="small soft">{setting.description}</p>
      <p class="small">
        <span class="mono">{shown}</span> <span class="tag">{setting.source}</span>
      </p>
      {isOpen.value && (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            void write(text.value);
          }}
        >
          <input
            class="input grow"
            aria-label={`New value of ${setting.key}`}
            aria-invalid={fault.value !== undefined}
            value={text.value}
            onInput={(event) => void check(event.currentTarget.value)}
          />
          <button type="submit" class="button primary" disabled={fault.value !== undefined}>
            Write
          </button>
          <button type="button" class="button" onClick={() => void write(null)}>
            Use the default
          </button>
          <Fault text={fault.value} />
        </form>
      )}
    </li>
  );
}

function printValue(value: unknown): string {
  if (value === undefined || value === null) return "not set";
  return typeof value === "string" ? value : JSON.stringify(value);
}
