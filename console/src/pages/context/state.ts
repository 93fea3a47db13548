import { type Signal, signal } from "@preact/signals";
import { createResource, type Resource } from "../../state/resource.ts";
import { attempt, say } from "../../state/toasts.ts";
import { formatNumber } from "../../ui/format.ts";
import { assemble, type ContextView, compact } from "./queries.ts";

export interface ContextState {
  view: Resource<ContextView>;
  budget: Signal<number | undefined>;
  prompt: Signal<string>;
  /** The view before the last change, to compare with. */
  before: Signal<ContextView | undefined>;
  isCompacting: Signal<boolean>;
  load(): Promise<void>;
  compactNow(): Promise<void>;
}

export function createContextState(key: string): ContextState {
  const budget = signal<number | undefined>(undefined);
  const prompt = signal("");
  const before = signal<ContextView | undefined>(undefined);
  const isCompacting = signal(false);
  const view = createResource((abort) => assemble(key, { budget: budget.value, prompt: prompt.value }, abort));
  return {
    view,
    budget,
    prompt,
    before,
    isCompacting,
    async load() {
      const shown = view.data.value;
      await view.load();
      if (shown && shown !== view.data.value) before.value = shown;
    },
    async compactNow() {
      isCompacting.value = true;
      const shown = view.data.value;
      const done = await attempt(() => compact(key));
      isCompacting.value = false;
      if (!done) return;
      await view.load();
      before.value = shown;
      const change = `${formatNumber(done.tokensBefore)} to ${formatNumber(done.tokensAfter)} tokens`;
      say(done.status === "done" ? `Compacted: ${change}.` : `Nothing was compacted: ${done.because ?? done.status}.`);
    },
  };
}
