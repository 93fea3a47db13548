import { type Answer, call } from "../../api/client.ts";

export type SessionList = Answer<"GET /api/sessions">;
export type ListedSession = SessionList["sessions"][number];
export type TinyCore = Answer<"POST /api/sessions/cores">["cores"][number];

export interface ListFilter {
  match: string;
  sort: string;
  channel: string;
}

const pageSize = 60;

export function readSessions(
  filter: ListFilter,
  after: string | undefined,
  signal?: AbortSignal,
): Promise<SessionList> {
  const { match, sort, channel } = filter;
  return call("GET /api/sessions", { query: { match, sort, channel, after, limit: pageSize }, signal });
}

export async function readSubagents(parent: string): Promise<ListedSession[]> {
  return (await call("GET /api/sessions", { query: { parent, limit: 200 } })).sessions;
}

export async function readCores(keys: string[]): Promise<TinyCore[]> {
  return keys.length === 0 ? [] : (await call("POST /api/sessions/cores", { body: { keys } })).cores;
}
