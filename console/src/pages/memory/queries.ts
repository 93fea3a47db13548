import { type Answer, call } from "../../api/client.ts";

export type Memory = Answer<"GET /api/memories">["memories"][number];
export type Opened = Answer<"GET /api/memories/{id}">;
export type Decay = Answer<"GET /api/memories/{id}/decay">;
export type Review = Answer<"GET /api/memories/review">["reviews"][number];

export interface MemoryFilter {
  query: string;
  category: string;
  scope: string;
  asOf: string;
}

const pageSize = 50;

export async function readMemories(
  { query, category, scope, asOf }: MemoryFilter,
  offset: number,
  signal?: AbortSignal,
): Promise<{ memories: Memory[]; total: number }> {
  // The end of a day: what was believed on it.
  const time = asOf === "" ? undefined : new Date(`${asOf}T23:59:59`).toISOString();
  const filter = { category, scope, asOf: time };
  if (query.trim() === "") {
    return call("GET /api/memories", { query: { ...filter, limit: pageSize, offset }, signal });
  }
  if (offset > 0) return { memories: [], total: 0 };
  const { hits } = await call("GET /api/memories/search", { query: { ...filter, query, limit: 100 }, signal });
  const memories = hits.map(({ memory }) => memory);
  return { memories, total: memories.length };
}

export async function openMemory(id: string, signal: AbortSignal) {
  const [opened, history, decay] = await Promise.all([
    call("GET /api/memories/{id}", { params: { id }, signal }),
    call("GET /api/memories/{id}/history", { params: { id }, signal }),
    call("GET /api/memories/{id}/decay", { params: { id }, signal }),
  ]);
  return { ...opened, versions: history.versions, decay };
}
