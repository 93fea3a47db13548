import { type Answer, call } from "../../api/client.ts";

export type ContextView = Answer<"GET /api/sessions/{key}/context/assembled">;
export type TraceItem = ContextView["trace"][number];
export type CompactResult = Answer<"POST /api/sessions/{key}/context/compact">;

export interface Trial {
  budget: number | undefined;
  prompt: string;
}

/** Reads the messages that the model would get with a budget and a prompt. Nothing is written. */
export function assemble(key: string, { budget, prompt }: Trial, signal: AbortSignal): Promise<ContextView> {
  const query = { budget, prompt: prompt.trim() === "" ? undefined : prompt };
  return call("GET /api/sessions/{key}/context/assembled", { params: { key }, query, signal });
}

export function compact(key: string): Promise<CompactResult> {
  return call("POST /api/sessions/{key}/context/compact", { params: { key }, body: {} });
}
