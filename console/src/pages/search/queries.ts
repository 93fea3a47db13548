import { type Answer, call } from "../../api/client.ts";

export type SearchAnswer = Answer<"GET /api/search">;
export type SearchResult = SearchAnswer["results"][number];
export type Mode = "both" | "words" | "meaning" | "regex";

/** Everything that a search depends on; it is in the address. */
export interface SearchState {
  q: string;
  mode: Mode;
  kind: string;
  session: string;
  person: string;
  role: string;
  scope: string;
  since: string;
  before: string;
  asOf: string;
}

export interface Found {
  results: SearchResult[];
  confidence?: SearchAnswer["confidence"];
  mode?: string;
  notes: string[];
  engineMs: number;
}

const limit = 30;

export async function search(state: SearchState, signal: AbortSignal): Promise<Found> {
  const started = performance.now();
  const found = state.mode === "regex" ? await grep(state, signal) : await find(state, signal);
  return { ...found, engineMs: performance.now() - started };
}

async function find(state: SearchState, signal: AbortSignal): Promise<Omit<Found, "engineMs">> {
  const { q, mode, kind, session, person, role, scope, since, before, asOf } = state;
  const answer = await call("GET /api/search", {
    query: { q, mode, kind, session, person, role, scope, since, before, asOf, explain: "1", limit },
    signal,
  });
  const { results, confidence } = answer;
  return { results, confidence, mode: answer.mode, notes: [...answer.cut, ...answer.degraded] };
}

async function grep(state: SearchState, signal: AbortSignal): Promise<Omit<Found, "engineMs">> {
  const { q, session, since, before, kind } = state;
  const scopes: Record<string, string> = { message: "messages", summary: "summaries", file: "files" };
  const answer = await call("GET /api/grep", {
    query: { pattern: q, mode: "regex", session, since, before, scope: scopes[kind], limit },
    signal,
  });
  const results = answer.matches.map(
    (match): SearchResult => ({
      kind: match.kind,
      id: match.citation,
      citation: match.citation,
      score: match.score,
      snippet: match.snippet,
      time: match.time,
      sessionKey: match.sessionKey,
      sessionTitle: match.sessionTitle,
      role: match.role,
      sources: ["pattern"],
    }),
  );
  return { results, notes: answer.cut === undefined ? [] : [answer.cut] };
}

/** The messages before and after one. */
export function readSurroundings(key: string, seq: number): Promise<Answer<"GET /api/sessions/{key}/messages">> {
  return call("GET /api/sessions/{key}/messages", {
    params: { key },
    query: { around: seq, limit: 5, content: "reference" },
  });
}
