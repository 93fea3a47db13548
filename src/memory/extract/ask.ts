import type { z } from "zod";
import type { Generate, TokenUsage } from "../../models/index.ts";
import { estimateTokens } from "../../text/index.ts";

/** A model's answer parsed as JSON; without `value` it was invalid, and `fault` says why. */
export interface ModelAnswer<T> {
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

/** Calls a model for JSON. Model failures are thrown; an invalid answer is returned as `fault`. */
export async function askForJson<T>(generate: Generate, question: Question<T>): Promise<ModelAnswer<T>> {
  const { system, user, maxTokens, schema, signal } = question;
  const answer = await generate({ purpose: "memory", system, user, temperature: 0.1, maxTokens, signal });
  const text = typeof answer === "string" ? answer : (answer?.text ?? "");
  const model = typeof answer === "string" ? undefined : answer?.model;
  const tokens = countTokens(typeof answer === "string" ? undefined : answer?.usage, system + user, text);
  const base = { tokens, ...(model === undefined ? {} : { model }) };
  const json = extractJson(text);
  if (json === undefined) return { ...base, fault: "the answer contains no JSON" };
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ...base, value: parsed.data };
  return { ...base, fault: `the answer does not match the schema: ${parsed.error.issues[0]?.message ?? "unknown"}` };
}

function countTokens(usage: TokenUsage | undefined, asked: string, answered: string): number {
  return usage ? usage.inputTokens + usage.outputTokens : estimateTokens(asked) + estimateTokens(answered);
}

/** Extracts JSON from an answer, with or without a fence and surrounding text. */
export function extractJson(text: string): unknown {
  const fenced = /```(?:json)?((?:(?!```)[\s\S])*)```/.exec(text)?.[1]?.trim();
  for (const piece of [fenced, text, sliceBetween(text, "{", "}"), sliceBetween(text, "[", "]")]) {
    if (piece === undefined || piece.trim() === "") continue;
    const value = parseJson(piece);
    if (value !== undefined) return value;
  }
  return undefined;
}

function sliceBetween(text: string, open: string, close: string): string | undefined {
  const [from, to] = [text.indexOf(open), text.lastIndexOf(close)];
  return from === -1 || to <= from ? undefined : text.slice(from, to + 1);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
