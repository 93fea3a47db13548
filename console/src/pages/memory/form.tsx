import { useSignal } from "@preact/signals";
import { Dialog } from "../../ui/dialog.tsx";
import { addMemory, correctMemory } from "./actions.ts";
import { draft, opened } from "./state.ts";

/** Adds a fact, or corrects one. */
export function MemoryForm() {
  const given = draft.value;
  const text = useSignal(given?.text ?? "");
  if (!given) return null;
  const close = () => {
    draft.value = undefined;
  };
  const memory = given.id === undefined ? undefined : opened.data.value?.memory;
  const title = memory ? "Correct a memory" : "Remember";
  return (
    <Dialog title={title} onClose={close}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.value.trim() === "") return;
          void (memory ? correctMemory(memory, text.value) : addMemory(text.value));
        }}
      >
        <h2>{title}</h2>
        <label class="field">
          <span>One fact, in one or two sentences</span>
          <textarea
            class="input"
            rows={4}
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
        </label>
        {memory && <p class="soft small">The earlier version stays in the history, with the time it was believed.</p>}
        <div class="actions">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={text.value.trim() === ""}>
            {memory ? "Correct" : "Remember"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
