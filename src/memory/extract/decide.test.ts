import { describe, expect, it } from "vitest";
import type { Memory, MemoryDraft } from "../memory.ts";
import { extractJson } from "./ask.ts";
import { decideByModel, decideByRules } from "./decide.ts";

const draft = (abstract: string, more: Partial<MemoryDraft> = {}): MemoryDraft => ({
  abstract,
  overview: `- ${abstract}`,
  content: abstract,
  category: "preferences",
  importance: 0.8,
  confidence: 0.8,
  temporalType: "static",
  validFrom: 0,
  trust: "owner",
  extractor: "rules",
  fiction: false,
  label: "general",
  sources: [{ agent: "main", sessionId: "s", seq: 2, start: 0, end: 5 }],
  ...more,
});
const memory = (abstract: string, more: Partial<Memory> = {}): Memory => ({
  ...draft(abstract),
  id: "mem_1",
  root: "mem_1",
  version: 1,
  agent: "main",
  scope: "agent:main",
  tier: "working",
  createdAt: 0,
  accessCount: 0,
  relations: [],
  support: {},
  sources: [{ agent: "main", sessionId: "s", seq: 1, start: 0, end: 5 }],
  ...more,
});
const factKey = "favourite:colour";

describe("without a model", () => {
  it("a new value of the same fact supersedes", () => {
    const similar = [
      { memory: memory("My favourite colour is blue.", { factKey }), words: 0.67, meaning: 0, sameFact: true },
    ];
    const candidate = { draft: draft("My favourite colour is red.", { factKey }) };
    expect(decideByRules(candidate, similar)).toMatchObject({ kind: "supersede", match: "mem_1" });
  });

  it("the opposite of the same fact supersedes", () => {
    const like = "like:jazz";
    const similar = [{ memory: memory("I like jazz.", { factKey: like }), words: 0.8, meaning: 0, sameFact: true }];
    expect(decideByRules({ draft: draft("I no longer like jazz.", { factKey: like }) }, similar).kind).toBe(
      "supersede",
    );
    expect(decideByRules({ draft: draft("I really like jazz.", { factKey: like }) }, similar).kind).not.toBe("create");
  });

  it("the same value in another message is support; in the same message it is skipped", () => {
    const similar = [
      { memory: memory("My favourite colour is blue.", { factKey }), words: 1, meaning: 0, sameFact: true },
    ];
    const again = draft("Blue is my favourite colour!", { factKey });
    expect(decideByRules({ draft: again }, similar)).toMatchObject({ kind: "support" });
    const same = { ...again, sources: similar[0]?.memory.sources ?? [] };
    expect(decideByRules({ draft: same }, similar)).toMatchObject({ kind: "skip" });
  });

  it("the same words with other numbers are new", () => {
    const similar = [{ memory: memory("Server 4 listens on port 4004."), words: 0.9, meaning: 0, sameFact: false }];
    expect(decideByRules({ draft: draft("Server 5 listens on port 4005.") }, similar).kind).toBe("create");
    expect(decideByRules({ draft: draft("Server 4 listens on port 4004.") }, similar).kind).toBe("support");
    expect(decideByRules({ draft: draft("Something else") }, []).kind).toBe("create");
  });
});

describe("with a model", () => {
  const similar = [{ memory: memory("Likes tea"), words: 0.9, meaning: 0, sameFact: false }];
  const decide = (text: string) =>
    decideByModel(async () => text, { draft: draft("Likes green tea") }, similar, undefined);

  it("takes the decision with the memory it names", async () => {
    const { decision } = await decide('{"decision": "merge", "match": "1", "context": "work", "reason": "same"}');
    expect(decision).toEqual({ kind: "merge", match: "mem_1", label: "work", reason: "same" });
  });

  it.each([2, 0, -1, "x", null])("creates a memory when it names %j", async (match) => {
    const { decision } = await decide(JSON.stringify({ decision: "supersede", match }));
    expect(decision).toMatchObject({ kind: "create" });
  });

  it.each(["", "no", '{"decision": "destroy"}', "[1, 2]"])("has no decision in %j", async (text) => {
    const answer = await decide(text);
    expect(answer.decision).toBeUndefined();
    expect(answer.fault).toBeTruthy();
  });
});

describe("JSON in an answer", () => {
  it("is found in fences and within text", () => {
    expect(extractJson('Sure!\n```json\n{"a": 1}\n```')).toEqual({ a: 1 });
    expect(extractJson('Here: {"a": {"b": 2}} done')).toEqual({ a: { b: 2 } });
    expect(extractJson("nothing")).toBeUndefined();
  });
});
