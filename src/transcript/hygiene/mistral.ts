import { createHash } from "node:crypto";
import type { Message } from "../../domain/index.ts";
import { renameCalls } from "./call-ids.ts";
import type { Note } from "./changes.ts";

/** Mistral's ids are nine letters and digits, no more and no less. */
export function cleanForMistral(messages: readonly Message[], note: Note): Message[] {
  return renameCalls(messages, nineCharacters, note);
}

function nineCharacters(id: string, _name: string, attempt: number): string {
  if (attempt === 0 && /^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(`${attempt}:${id}`).digest("hex").slice(0, 9);
}
