import type { z } from "zod";
import type { Generate, TokenUsage } from "../../models/index.ts";
import { estimateTokens } from "../../tokens/index.ts";

/** What a model said to one question, as values; undefined when it was not what was asked for. */
export interface Told<T> {
  value?: T;
  model?: string;
  tokens: number;
  fault?: string;
}

export interface Question<T> {
  system: string;
  user: string;
  maxTokens: number;
  schema: z.ZodType<T>;
  signal?: AbortSignal;
}

/** Asks for JSON. Failures of the model itself are thrown; nonsense is a fault in the answer. */
export async function askFor<T>(generate: Generate, question: Question<T>): Promise<Told<T>> {
  const { system, user, maxTokens, schema, signal } = question;
  const answer = await generate({ purpose: "memory", system, user, temperature: 0.1, maxTokens, signal });
  const text = typeof answer === "string" ? answer : (answer?.text ?? "");
  const model = typeof answer === "string" ? undefined : answer?.model;
  const tokens = used(typeof answer === "string" ? undefined : answer?.usage, system + user, text);
  const told = { tokens, ...(model === undefined ? {} : { model }) };
  const json = jsonIn(text);
  if (json === undefined) return { ...told, fault: "the answer holds no JSON" };
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ...told, value: parsed.data };
  return { ...told, fault: `the answer has another form: ${parsed.error.issues[0]?.message ?? "unknown"}` };
}

function used(usage: TokenUsage | undefined, asked: string, answered: string): number {
  return usage ? usage.inputTokens + usage.outputTokens : estimateTokens(asked) + estimateTokens(answered);
}

/** The JSON of an answer, with or without a fence and words around it. */
export function jsonIn(text: string): unknown {
  const fenced = /```(?:json)?\s*([\s\S]*?)```/.exec(text)?.[1];
  for (const piece of [fenced, text, between(text, "{", "}"), between(text, "[", "]")]) {
    if (piece === undefined || piece.trim() === "") continue;
    const value = parsed(piece);
    if (value !== undefined) return value;
  }
  return undefined;
}

function between(text: string, open: string, close: string): string | undefined {
  const [from, to] = [text.indexOf(open), text.lastIndexOf(close)];
  return from === -1 || to <= from ? undefined : text.slice(from, to + 1);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
