import { computed, signal } from "@preact/signals";
import { explainError } from "../../api/client.ts";
import { query } from "../../state/router.ts";
import {
  type ListedSession,
  type ListFilter,
  readCores,
  readSessions,
  readSubagents,
  type TinyCore,
} from "./queries.ts";

/** The filter and the order of the address. */
export const filter = computed<ListFilter>(() => ({
  match: query.value.get("match") ?? "",
  sort: query.value.get("sort") ?? "recent",
  channel: query.value.get("channel") ?? "",
}));

export const sessions = signal<ListedSession[] | undefined>(undefined);
export const cores = signal<ReadonlyMap<string, TinyCore>>(new Map());
export const children = signal<ReadonlyMap<string, ListedSession[]>>(new Map());
export const fault = signal<string | undefined>(undefined);
export const hasMore = signal(false);

let next: string | undefined;
let running: AbortController | undefined;
let isLoadingMore = false;

/** Reads the first page again, and as many rows as are shown. */
export async function loadSessions(): Promise<void> {
  running?.abort();
  const control = new AbortController();
  running = control;
  try {
    const page = await readSessions(filter.value, undefined, control.signal);
    sessions.value = page.sessions;
    next = page.next;
    hasMore.value = next !== undefined;
    fault.value = undefined;
    await addCores(page.sessions);
  } catch (error) {
    if (!control.signal.aborted) fault.value = explainError(error);
  }
}

export async function loadMore(): Promise<void> {
  if (next === undefined || isLoadingMore) return;
  isLoadingMore = true;
  const wanted = filter.value;
  try {
    const page = await readSessions(wanted, next);
    if (wanted !== filter.value) return;
    sessions.value = [...(sessions.value ?? []), ...page.sessions];
    next = page.next;
    hasMore.value = next !== undefined;
    await addCores(page.sessions);
  } catch (error) {
    fault.value = explainError(error);
  } finally {
    isLoadingMore = false;
  }
}

async function addCores(listed: readonly ListedSession[]): Promise<void> {
  const found = await readCores(listed.map(({ key }) => key));
  cores.value = new Map([...cores.value, ...found.map((core) => [core.key, core] as const)]);
}

/** Opens or closes the sub-agents of a session. */
export async function toggleChildren(key: string): Promise<void> {
  const opened = new Map(children.value);
  if (opened.delete(key)) {
    children.value = opened;
    return;
  }
  const found = await readSubagents(key);
  children.value = new Map([...children.value, [key, found]]);
  await addCores(found);
}

/** The rows of the list: sessions, each followed by its sub-agents when they are open. */
export const rows = computed(() =>
  (sessions.value ?? []).flatMap((session) => [
    { session, level: 0 },
    ...(children.value.get(session.key) ?? []).map((child) => ({ session: child, level: 1 })),
  ]),
);
