import type { IncomingMessage } from "node:http";

export type Json = Record<string, unknown>;

export interface ModelCall {
  id: string;
  name: string;
  input: Json;
}

/** What the model says. */
export interface Said {
  text?: string;
  thinking?: string;
  calls?: ModelCall[];
}

/** How a server misbehaves. */
export type Fault =
  | { kind: "status"; status: number; headers?: Record<string, string>; body?: string }
  | { kind: "cut" }
  | { kind: "garbage" }
  | { kind: "hang" };

export interface Seen {
  path: string;
  headers: IncomingMessage["headers"];
  bytes: Buffer;
  body: Json;
  tokens: number;
  status: number;
  /** Whether the other side went away before the answer was over. */
  aborted: boolean;
}

/** How one API is spoken. */
export interface Dialect {
  /** What counts towards the window. */
  counted(body: Json): unknown;
  maxTokens(body: Json): number;
  /** What is wrong with a conversation, as the provider would find it; undefined when nothing is. */
  wrong(body: Json): Json | undefined;
  overflow(tokens: number, maxTokens: number, limit: number, countsAnswer: boolean): Json;
  /** The events of a stream that refuses a prompt for its length. */
  refusal?(body: Json, n: number, tokens: number, limit: number): string[];
  whole(body: Json, said: Said, usage: { input: number; output: number }, n: number): Json;
  /** The events of a stream, each as it is written. */
  events(body: Json, said: Said, usage: { input: number; output: number }, n: number): string[];
}

/** A text in the pieces a stream sends it in. */
export function pieces(text: string, size = 12): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at += size) found.push(text.slice(at, at + size));
  return found;
}
