import { getParts } from "../domain/index.ts";
import { Recent } from "./recent.ts";
import type { Format, Unit } from "./wire.ts";

/** Lines shorter than this are in too many texts to tell one from another. */
const lineCharactersLeast = 30;
const shareLeast = 0.5;
const repliesPerScope = 8;
const scopesMax = 256;
const replyCharactersMax = 60_000;

interface LastReply {
  key: string;
  lines: readonly string[];
}

/**
 * Clients compact by themselves: they ask the model for a summary and begin anew with it. Such a beginning holds the last
 * reply of the conversation it continues, by which it is known.
 */
export class Continuations {
  readonly #scopes = new Recent<LastReply[]>(scopesMax);

  /** Notes what was answered last in a conversation; `scope` is the client's own session. */
  note(scope: string, key: string, format: Format, reply: Unit): void {
    const lines = linesOf(textOf(format, reply).slice(-replyCharactersMax));
    const others = (this.#scopes.get(scope) ?? []).filter((one) => one.key !== key);
    this.#scopes.set(scope, [{ key, lines }, ...others].slice(0, repliesPerScope));
  }

  /** The conversation that a beginning continues; undefined when it is a new one. */
  find(scope: string, key: string, format: Format, first: Unit | undefined): string | undefined {
    const replies = this.#scopes.get(scope);
    if (replies === undefined || first === undefined) return undefined;
    const text = textOf(format, first);
    return replies.find((one) => one.key !== key && holds(text, one.lines))?.key;
  }
}

function holds(text: string, lines: readonly string[]): boolean {
  const found = lines.filter((line) => text.includes(line)).length;
  return found > 0 && found >= lines.length * shareLeast;
}

function linesOf(text: string): string[] {
  // What a model thought before its summary stays behind.
  const summary = /<summary>([\s\S]*)<\/summary>/.exec(text)?.[1] ?? text;
  return summary
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= lineCharactersLeast);
}

function textOf(format: Format, unit: Unit): string {
  const parts = format.messages(unit).flatMap(getParts);
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
