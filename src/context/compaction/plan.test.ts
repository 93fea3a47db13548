import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContextItem, MessageItem, SummaryItem } from "../items.ts";
import { freshTail, leafDue, planCondensedPass, planLeafPass, thresholdReached } from "./plan.ts";
import { type CompactionPolicy, defaultPolicy, manualPolicy } from "./policy.ts";

const message = (seq: number, fields: Partial<MessageItem> = {}): MessageItem => ({
  kind: "message",
  seq,
  tokens: 10,
  role: "user",
  calls: [],
  results: [],
  time: seq,
  ...fields,
});
const call = (seq: number, ...calls: string[]) => message(seq, { role: "assistant", calls });
const result = (seq: number, ...results: string[]) => message(seq, { role: "tool", results });
const summary = (id: number, depth = 0, tokens = 100): SummaryItem => ({
  kind: "summary",
  id: `sum_${id}`,
  depth,
  tokens,
  earliestAt: id,
  latestAt: id,
});
const policy = (fields: Partial<CompactionPolicy> = {}): CompactionPolicy => ({ ...defaultPolicy, ...fields });
const small = policy({ freshTailCount: 2, leafChunkTokens: 30 });
const talk = (count: number) => Array.from({ length: count }, (_, seq) => message(seq));

describe("the fresh tail", () => {
  it("is the last messages, as many as the policy says", () => {
    expect(freshTail(talk(10), small)).toBe(8);
    expect(freshTail(talk(1), small)).toBe(0);
    expect(freshTail([], small)).toBe(0);
  });

  it("is bounded by tokens but always holds the newest user message", () => {
    expect(freshTail(talk(10), policy({ freshTailMaxTokens: 35 }))).toBe(7);
    const items = [...talk(5), message(5, { role: "assistant", tokens: 500 })];
    expect(freshTail(items, policy({ freshTailMaxTokens: 35 }))).toBe(4);
    expect(freshTail(items, policy({ freshTailMaxTokens: 35, tailHoldsNewestUser: false }))).toBe(6);
  });

  it("does not take a message of tool results for a user's words", () => {
    const items = [message(0), call(1, "a"), message(2, { results: ["a"] }), message(3, { role: "assistant" })];
    expect(freshTail(items, policy({ freshTailCount: 1 }))).toBe(0);
  });

  it("reaches back to the call of a result it holds", () => {
    const items = [message(0), message(1), call(2, "a", "b"), result(3, "a"), result(4, "b"), message(5)];
    expect(freshTail(items, small)).toBe(2);
  });
});

describe("the leaf pass", () => {
  it("takes the oldest messages up to a chunk, right behind the summaries", () => {
    expect(planLeafPass([summary(1), ...talk(10)], small)).toEqual({ from: 1, to: 4 });
  });

  it("takes at least one message, however large", () => {
    expect(planLeafPass([message(0, { tokens: 900 }), ...talk(9)], small)).toEqual({ from: 0, to: 1 });
  });

  it("takes nothing when all is fresh", () => {
    expect(planLeafPass([summary(1), ...talk(2)], small)).toBeUndefined();
    expect(planLeafPass([], small)).toBeUndefined();
  });

  it("moves the boundary back to the call", () => {
    const items = [message(0), message(1), call(2, "a"), result(3, "a"), ...talk(5)];
    expect(planLeafPass(items, small)).toEqual({ from: 0, to: 2 });
  });

  it("takes a pair whole when it alone is larger than a chunk", () => {
    const items = [call(0, "a"), message(1, { tokens: 50 }), result(2, "a"), ...talk(5)];
    expect(planLeafPass(items, small)).toEqual({ from: 0, to: 3 });
  });

  it("leaves out a pending call and everything after it", () => {
    const items = [message(0), call(1, "a"), ...talk(8)];
    expect(planLeafPass(items, small)).toEqual({ from: 0, to: 1 });
    expect(planLeafPass(items.slice(1), small)).toBeUndefined();
  });

  it("is not held up by an aborted call", () => {
    const items = [message(0), message(1, { role: "assistant", calls: ["a"], aborted: true }), ...talk(8)];
    expect(planLeafPass(items, small)).toEqual({ from: 0, to: 3 });
  });

  it("is not held up for ever by a result that was lost", () => {
    const items = [call(0, "a"), message(1), message(2, { role: "assistant" }), ...talk(4)];
    expect(planLeafPass(items, small)).toEqual({ from: 0, to: 3 });
  });
});

describe("the condensed pass", () => {
  const leaves = (count: number) => Array.from({ length: count }, (_, id) => summary(id));

  it("waits for eight leaves, four summaries above, and two under pressure", () => {
    expect(planCondensedPass(leaves(7), policy())).toBeUndefined();
    expect(planCondensedPass(leaves(8), policy())).toEqual({ from: 0, to: 8, depth: 0 });
    const deep = [summary(1, 2), summary(2, 1), summary(3, 1), summary(4, 1), summary(5, 1), summary(6)];
    expect(planCondensedPass(deep, policy())).toEqual({ from: 1, to: 5, depth: 1 });
    expect(planCondensedPass(leaves(2), policy(), { hard: true })).toEqual({ from: 0, to: 2, depth: 0 });
  });

  it("prefers the shallowest depth, and keeps below a given one", () => {
    const items = [...Array.from({ length: 4 }, (_, id) => summary(id, 1)), ...leaves(8)];
    expect(planCondensedPass(items, policy())).toEqual({ from: 4, to: 12, depth: 0 });
    expect(planCondensedPass(items.slice(0, 4), policy(), { maxDepth: 1 })).toBeUndefined();
  });

  it("takes a long run in portions of the fan-out, so that each summary says enough of its sources", () => {
    const items = Array.from({ length: 30 }, (_, id) => summary(id, 0, 2_000));
    expect(planCondensedPass(items, policy())).toEqual({ from: 0, to: 8, depth: 0 });
    expect(planCondensedPass(items.slice(0, 5), policy(), { hard: true })).toEqual({ from: 0, to: 5, depth: 0 });
  });

  it("passes over a run that no summary shortens, and goes on with the next", () => {
    const items = [
      ...Array.from({ length: 4 }, (_, id) => summary(id, 1, 100)),
      ...Array.from({ length: 8 }, (_, id) => summary(id + 4, 0, 100)),
    ];
    const isSkipped = ({ depth }: { depth: number }) => depth === 0;
    expect(planCondensedPass(items, policy(), { isSkipped })).toEqual({ from: 0, to: 4, depth: 1 });
    expect(planCondensedPass(items, policy(), { isSkipped: () => true })).toBeUndefined();
  });
});

describe("the triggers", () => {
  it("make a leaf due once enough is outside the tail", () => {
    expect(leafDue(talk(4), small)).toBe(false);
    expect(leafDue(talk(5), small)).toBe(true);
    expect(leafDue([call(0, "a"), ...talk(9)], small)).toBe(false);
  });

  it("reach the threshold by share or by what must stay free", () => {
    expect(thresholdReached(75_000, 100_000, policy())).toBe(false);
    expect(thresholdReached(75_001, 100_000, policy())).toBe(true);
    expect(thresholdReached(6_100, 8_000, policy({ contextThreshold: 0.9 }))).toBe(true);
  });
});

const id = fc.constantFrom("a", "b", "c", "d");
const step = fc.record({
  role: fc.constantFrom("user", "assistant", "tool", "system" as const),
  tokens: fc.integer({ min: 0, max: 60 }),
  calls: fc.array(id, { maxLength: 3 }),
  results: fc.array(id, { maxLength: 3 }),
  aborted: fc.boolean(),
});
const conversation = fc.array(step, { maxLength: 40 }).map((steps) =>
  steps.map((one, seq) =>
    message(seq, {
      role: one.role as MessageItem["role"],
      tokens: one.tokens,
      calls: one.role === "assistant" ? one.calls : [],
      results: one.role === "tool" || one.role === "user" ? one.results : [],
      aborted: one.aborted,
    }),
  ),
);
const anyPolicy = fc
  .record({
    freshTailCount: fc.integer({ min: 0, max: 8 }),
    freshTailMaxTokens: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
    tailHoldsNewestUser: fc.boolean(),
    leafChunkTokens: fc.integer({ min: 1, max: 120 }),
    leafMinFanout: fc.integer({ min: 1, max: 4 }),
    condensedMinFanout: fc.integer({ min: 1, max: 3 }),
  })
  .map((fields) => policy(fields));

/** The newest waiting call before a result is its call; written again here, so that the two can disagree. */
function pairsOf(items: readonly ContextItem[]): [number, number][] {
  const pairs: [number, number][] = [];
  const used = new Set<string>();
  items.forEach((item, at) => {
    if (item.kind !== "message") return;
    for (const result of item.results) {
      for (let back = at - 1; back >= 0; back -= 1) {
        const other = items[back];
        if (other?.kind !== "message") break;
        const slot = other.calls.findLastIndex((call, index) => call === result && !used.has(`${back}:${index}`));
        if (slot === -1) continue;
        used.add(`${back}:${slot}`);
        pairs.push([back, at]);
        break;
      }
    }
  });
  return pairs;
}

describe("whatever the conversation", () => {
  it("a leaf starts behind the summaries, splits no pair and leaves the tail alone", () => {
    fc.assert(
      fc.property(conversation, anyPolicy, fc.integer({ min: 0, max: 3 }), (messages, rules, count) => {
        const items: ContextItem[] = [...Array.from({ length: count }, (_, index) => summary(index)), ...messages];
        const tail = freshTail(items, rules);
        const run = planLeafPass(items, rules);
        const cuts = run === undefined ? [tail] : [tail, run.to];
        for (const [from, to] of pairsOf(items)) for (const cut of cuts) expect(from < cut && cut <= to).toBe(false);
        if (run === undefined) return;
        expect(run.from).toBe(count);
        expect(run.to).toBeGreaterThan(run.from);
        expect(run.to).toBeLessThanOrEqual(tail);
      }),
      { numRuns: 2_000 },
    );
  });

  it("compacting until nothing is planned ends, and every message is under one item", () => {
    fc.assert(
      fc.property(conversation, anyPolicy, fc.boolean(), (messages, rules, hard) => {
        let items: ContextItem[] = messages;
        const under = new Map<ContextItem, number[]>(messages.map((item) => [item, [item.seq]]));
        for (let round = 0; ; round += 1) {
          expect(round).toBeLessThanOrEqual(2 * messages.length + 1);
          const leaf = planLeafPass(items, rules);
          const run = leaf ?? planCondensedPass(items, rules, { hard });
          if (run === undefined) break;
          const depth = leaf === undefined ? (items[run.from] as SummaryItem).depth + 1 : 0;
          const made = summary(round, depth, 5);
          under.set(
            made,
            items.slice(run.from, run.to).flatMap((item) => under.get(item) ?? []),
          );
          items = [...items.slice(0, run.from), made, ...items.slice(run.to)];
        }
        expect(items.flatMap((item) => under.get(item) ?? [])).toEqual(messages.map((item) => item.seq));
      }),
      { numRuns: 1_000 },
    );
  });

  it("a checkpoint by hand leaves only what is open", () => {
    expect(planLeafPass(talk(3), manualPolicy(policy()))).toEqual({ from: 0, to: 3 });
    expect(freshTail(talk(10), manualPolicy(policy(), 40))).toBe(6);
  });
});
