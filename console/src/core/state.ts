/** The core of one session: what it shows, where it is opened, and what lies in the window. */
import { computed, type Signal, signal } from "@preact/signals";
import { type Answer, call } from "../api/client.ts";
import { createResource, type Resource } from "../state/resource.ts";
import type { Layer } from "./layout.ts";

type Trace = Answer<"GET /api/sessions/{key}/context/assembled">["trace"];

export interface CoreState {
  layers: Resource<Answer<"GET /api/sessions/{key}/layers">>;
  /** The layers that were opened, from the whole conversation down. */
  opened: Signal<Layer[]>;
  selected: Signal<string | undefined>;
  /** The content of the next prompt's window. */
  trace: Resource<Trace>;
  isInWindow: (layer: Layer) => boolean;
  isRecalled: (layer: Layer) => boolean;
  open(layer: Layer): Promise<void>;
  /** Goes up to a level: 0 is the whole conversation. */
  goUp(level: number): Promise<void>;
  load(): Promise<void>;
}

interface Shown {
  summaries: ReadonlySet<string>;
  messages: readonly (readonly [number, number])[];
}

export function createCoreState(key: string): CoreState {
  const opened = signal<Layer[]>([]);
  const selected = signal<string | undefined>(undefined);
  const layers = createResource((abort) => {
    const last = opened.value.at(-1);
    const query =
      last === undefined
        ? {}
        : last.kind === "summary"
          ? { summary: last.id }
          : { from: last.firstSeq, to: last.lastSeq };
    return call("GET /api/sessions/{key}/layers", { params: { key }, query, signal: abort });
  });
  const trace = createResource(async (abort) => {
    const view = await call("GET /api/sessions/{key}/context/assembled", {
      params: { key },
      query: { parts: "trace" },
      signal: abort,
    });
    return view.trace;
  });
  const shown = computed(() => selectShown(trace.data.value, (one) => one.in && one.kind !== "recall"));
  const recalled = computed(() => selectShown(trace.data.value, (one) => one.in && one.kind === "recall"));
  return {
    layers,
    opened,
    selected,
    trace,
    isInWindow: (layer) => shown.value === undefined || covers(shown.value, layer),
    isRecalled: (layer) => recalled.value !== undefined && covers(recalled.value, layer),
    async open(layer) {
      if (layer.kind === "message") return;
      opened.value = [...opened.value, layer];
      selected.value = undefined;
      await layers.load();
    },
    async goUp(level) {
      const from = opened.value[level];
      opened.value = opened.value.slice(0, level);
      selected.value = from?.id;
      await layers.load();
    },
    async load() {
      await layers.load();
      await trace.load();
    },
  };
}

function selectShown(trace: Trace | undefined, isWanted: (one: Trace[number]) => boolean): Shown | undefined {
  if (trace === undefined) return undefined;
  const items = trace.filter(isWanted);
  const messages = items.flatMap(({ id, firstSeq, lastSeq }) => {
    if (firstSeq !== undefined && lastSeq !== undefined) return [[firstSeq, lastSeq] as const];
    const numbers = [...id.matchAll(/msg#(\d+)/g)].map((match) => Number(match[1]));
    const [first, last = first] = numbers;
    return first === undefined || last === undefined ? [] : [[first, last] as const];
  });
  return { summaries: new Set(items.map(({ id }) => id)), messages };
}

/** A layer counts as shown when it, or something inside it, is in the window. */
function covers({ summaries, messages }: Shown, layer: Layer): boolean {
  if (summaries.has(layer.id)) return true;
  return messages.some(([first, last]) => layer.lastSeq >= first && layer.firstSeq <= last);
}
