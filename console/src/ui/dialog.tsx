import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A modal dialog; Escape and its backdrop close it. */
export function Dialog({
  title,
  onClose,
  className,
  children,
}: {
  title: string;
  onClose: () => void;
  className?: string;
  children: ComponentChildren;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  // Before the next paint, so that what is typed at once goes into the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a modal dialog by itself
    <dialog
      ref={ref}
      class={className}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      {children}
    </dialog>
  );
}

interface Question {
  title: string;
  text: string;
  confirm: string;
  isDangerous?: boolean;
  /** Asks for a line of text; the answer is passed on. */
  input?: { label: string; value: string };
  answer: (given: string | undefined) => void;
}

const question = signal<Question | undefined>(undefined);

/** Asks before something that cannot be undone, or for one line of text. Undefined means that the person said no. */
export function ask(asked: Omit<Question, "answer">): Promise<string | undefined> {
  return new Promise((resolve) => {
    question.value = { ...asked, answer: resolve };
  });
}

export function QuestionDialog() {
  const asked = question.value;
  const field = useRef<HTMLInputElement>(null);
  if (!asked) return null;
  const close = (answer: string | undefined) => {
    question.value = undefined;
    asked.answer(answer);
  };
  return (
    <Dialog title={asked.title} onClose={() => close(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          close(asked.input ? (field.current?.value ?? "") : "yes");
        }}
      >
        <h2>{asked.title}</h2>
        <p>{asked.text}</p>
        {asked.input && (
          <label class="field">
            <span>{asked.input.label}</span>
            <input ref={field} class="input" defaultValue={asked.input.value} />
          </label>
        )}
        <div class="actions">
          <button type="button" class="button" onClick={() => close(undefined)}>
            Cancel
          </button>
          <button type="submit" class={`button ${asked.isDangerous ? "danger" : "primary"}`}>
            {asked.confirm}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
