/** A model for memories that answers by a script: what it notes in which message, and what it decides. */
import type { Generate, GenerateRequest } from "../../src/models/index.ts";

export interface Note {
  /** The message that says it holds this. */
  in: string;
  category: string;
  abstract: string;
  content?: string;
  topic?: string;
  context?: string;
  fiction?: boolean;
}

export interface Verdict {
  /** The candidate whose words hold this. */
  on: string;
  decision: string;
  /** A number, or words of the memory that is meant. */
  match?: number | string;
  context?: string;
  merged?: { abstract: string; overview: string; content: string };
}

export class ScriptedModel {
  notes: Note[] = [];
  verdicts: Verdict[] = [];
  utility = 0.5;
  reflections: { kind: string; text: string; in: string }[] = [];
  requests: GenerateRequest[] = [];
  fail: Error | undefined;
  raw: string | undefined;

  readonly generate: Generate = async (request) => {
    this.requests.push(request);
    if (this.fail) throw this.fail;
    if (this.raw !== undefined) return this.raw;
    return { text: JSON.stringify(this.answer(request)), model: "script/one" };
  };

  reset(): void {
    this.notes = [];
    this.verdicts = [];
    this.requests = [];
    this.reflections = [];
    this.utility = 0.5;
    this.fail = undefined;
    this.raw = undefined;
  }

  private answer({ system, user }: GenerateRequest): unknown {
    if (system.includes("worth remembering")) return { memories: this.noted(user) };
    if (system.includes("judge how useful")) return { utility: user.split("\n").map(() => this.utility) };
    if (system.includes("look back")) {
      const reflections = this.reflections.flatMap(({ in: words, ...rest }) => {
        const seq = seqSaying(user, words);
        return seq === undefined ? [] : [{ ...rest, support: [`msg#${seq}`] }];
      });
      return { reflections };
    }
    return this.decided(user);
  }

  private noted(user: string): unknown[] {
    return this.notes.flatMap(({ in: words, ...note }) => {
      const seq = seqSaying(user, words);
      return seq === undefined ? [] : [{ ...note, support: [`msg#${seq}`] }];
    });
  }

  private decided(user: string): unknown {
    const candidate = user.slice(0, user.indexOf("</candidate>"));
    const verdict = this.verdicts.find((one) => candidate.includes(one.on));
    if (!verdict) return { decision: "create", reason: "not in the script" };
    const { on: _, match, ...rest } = verdict;
    const shown = user.slice(user.indexOf("<memories>"));
    const number =
      typeof match === "string"
        ? /^(\d)\. /m.exec(shown.split("\n\n").find((one) => one.includes(match)) ?? "")?.[1]
        : match;
    return { ...rest, reason: "by the script", ...(number === undefined ? {} : { match: Number(number) }) };
  }
}

function seqSaying(user: string, words: string): string | undefined {
  return user
    .split("\n")
    .filter((line) => line.includes(words))
    .map((line) => /^\[msg#(\d+)/.exec(line)?.[1])
    .find((seq) => seq !== undefined);
}
