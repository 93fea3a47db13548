/** A window of entries that moves through a conversation of any length: pages are added at its ends and dropped at the other. */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { explainError } from "../../api/client.ts";
import { type EntryPage, type Recall, readPage, readRecalls, type SessionEntry } from "./queries.ts";

const entriesMax = 360;
const hidden = new Set(["session", "custom", "label"]);

export interface Transcript {
  entries: Signal<SessionEntry[]>;
  recalls: Signal<ReadonlyMap<number, Recall>>;
  fault: Signal<string | undefined>;
  isLoaded: Signal<boolean>;
  /** The entry to bring into view; set by a jump. */
  target: Signal<{ seq: number; mark: boolean } | undefined>;
  /** The other branch that is read; undefined for the active one. */
  branch: Signal<number | undefined>;
  /** When each tool was called, by the id of the call. */
  callTimes: ReadonlySignal<ReadonlyMap<string, number>>;
  hasOlder(): boolean;
  hasNewer(): boolean;
  openEnd(): Promise<void>;
  openAt(seq: number): Promise<void>;
  openTime(time: string): Promise<void>;
  loadOlder(): Promise<number>;
  loadNewer(): Promise<void>;
  /** Reads what was appended since, when the end is shown. */
  follow(): Promise<void>;
}

export function createTranscript(key: string): Transcript {
  const entries = signal<SessionEntry[]>([]);
  const recalls = signal<ReadonlyMap<number, Recall>>(new Map());
  const fault = signal<string | undefined>(undefined);
  const isLoaded = signal(false);
  const target = signal<{ seq: number; mark: boolean } | undefined>(undefined);
  const branch = signal<number | undefined>(undefined);
  let before: number | undefined;
  let after: number | undefined;
  let isBusy = false;

  const addRecalls = async (page: readonly SessionEntry[]): Promise<void> => {
    const [first, last] = [page[0], page.at(-1)];
    if (!first || !last) return;
    const found = await readRecalls(key, first.seq, last.seq);
    if (found.length > 0) recalls.value = new Map([...recalls.value, ...found.map((one) => [one.seq, one] as const)]);
  };
  const run = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    if (isBusy) return otherwise;
    isBusy = true;
    try {
      const result = await work();
      fault.value = undefined;
      return result;
    } catch (error) {
      fault.value = explainError(error);
      return otherwise;
    } finally {
      isBusy = false;
    }
  };
  const open = (
    read: () => Promise<EntryPage>,
    choose: (page: SessionEntry[]) => { seq: number; mark: boolean } | undefined,
  ) =>
    run(async () => {
      const page = await read();
      entries.value = page.entries.filter(isShown);
      before = page.before;
      after = page.after;
      isLoaded.value = true;
      target.value = choose(entries.value);
      await addRecalls(page.entries);
    }, undefined);
  return {
    entries,
    recalls,
    fault,
    isLoaded,
    target,
    branch,
    callTimes: computed(() => {
      const times = new Map<string, number>();
      for (const { message, time } of entries.value) {
        if (!Array.isArray(message?.content)) continue;
        for (const part of message.content) if (part.type === "tool_call") times.set(part.callId, time);
      }
      return times;
    }),
    hasOlder: () => before !== undefined,
    hasNewer: () => after !== undefined,
    openEnd: () =>
      open(
        () => readPage(key, { branch: branch.value }),
        (page) => {
          const last = page.at(-1);
          return last && { seq: last.seq, mark: false };
        },
      ),
    openAt: (seq) =>
      open(
        () => readPage(key, { around: seq, branch: branch.value }),
        (page) => closest(page, seq),
      ),
    openTime: (time) =>
      open(
        () => readPage(key, { at: time, branch: branch.value }),
        (page) => {
          const wanted = Date.parse(time);
          const found = page.find((entry) => entry.time >= wanted) ?? page.at(-1);
          return found && { seq: found.seq, mark: true };
        },
      ),
    loadOlder: () =>
      run(async () => {
        if (before === undefined) return 0;
        const page = await readPage(key, { before, branch: branch.value });
        const added = page.entries.filter(isShown);
        const all = [...added, ...entries.value];
        before = page.before;
        if (all.length > entriesMax) after = all[entriesMax - 1]?.seq;
        entries.value = all.slice(0, entriesMax);
        await addRecalls(page.entries);
        return added.length;
      }, 0),
    loadNewer: () =>
      run(async () => {
        if (after === undefined) return;
        const page = await readPage(key, { after, branch: branch.value });
        append(page);
        await addRecalls(page.entries);
      }, undefined),
    follow: () =>
      run(async () => {
        if (after !== undefined || !isLoaded.value) return;
        const page = await readPage(key, { after: entries.value.at(-1)?.seq ?? 0, branch: branch.value });
        append(page);
        await addRecalls(page.entries);
      }, undefined),
  };

  function append(page: EntryPage): void {
    const all = [...entries.value, ...page.entries.filter(isShown)];
    after = page.after;
    const from = Math.max(0, all.length - entriesMax);
    if (from > 0) before = all[from]?.seq;
    entries.value = all.slice(from);
  }
}

function isShown(entry: SessionEntry): boolean {
  return !hidden.has(entry.type);
}

function closest(page: readonly SessionEntry[], seq: number): { seq: number; mark: boolean } | undefined {
  const found = page.find((entry) => entry.seq >= seq) ?? page.at(-1);
  return found && { seq: found.seq, mark: true };
}
