import { computed, signal } from "@preact/signals";
import { call } from "../../api/client.ts";
import { createResource } from "../../state/resource.ts";
import { query } from "../../state/router.ts";
import { attempt } from "../../state/toasts.ts";
import { type Memory, type MemoryFilter, openMemory, readMemories } from "./queries.ts";

export const filter = computed<MemoryFilter>(() => ({
  query: query.value.get("q") ?? "",
  category: query.value.get("category") ?? "",
  scope: query.value.get("scope") ?? "",
  asOf: query.value.get("asOf") ?? "",
}));
export const openedId = computed(() => query.value.get("id") ?? undefined);

export const list = createResource((abort) => readMemories(filter.value, 0, abort));
export const stats = createResource((abort) => call("GET /api/memories/stats", { signal: abort }));
export const reviews = createResource(
  async (abort) => (await call("GET /api/memories/review", { signal: abort })).reviews,
);
export const conflicts = createResource(
  async (abort) => (await call("GET /api/memories/conflicts", { signal: abort })).conflicts,
);
export const opened = createResource(async (abort) => {
  const id = openedId.value;
  return id === undefined ? undefined : openMemory(id, abort);
});
/** The text of the form that adds or corrects; undefined while it is closed. */
export const draft = signal<{ id?: string; text: string } | undefined>(undefined);

export async function loadAll(): Promise<void> {
  await Promise.all([
    list.load(),
    stats.load(),
    reviews.load(),
    conflicts.load(),
    openedId.value === undefined ? undefined : opened.load(),
  ]);
}

export async function loadMore(): Promise<void> {
  const shown = list.data.value;
  if (!shown) return;
  const next = await attempt(() => readMemories(filter.value, shown.memories.length));
  if (next) list.set({ memories: [...shown.memories, ...next.memories], total: shown.total });
}

export function isCurrent(memory: Memory, now = Date.now()): boolean {
  return memory.forgottenAt === undefined && (memory.invalidatedAt === undefined || memory.invalidatedAt > now);
}
