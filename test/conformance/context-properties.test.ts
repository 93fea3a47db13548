import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry, Message } from "../../src/domain/index.ts";
import type { Expansion, Session, Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

/** What may happen to a conversation, in any order. */
type Step =
  | { do: "say"; turns: Turn[] }
  | { do: "go back"; share: number }
  | { do: "compact"; budget: number; keep?: number }
  | { do: "work"; window: number }
  | { do: "compact while it goes on"; budget: number; turns: Turn[] }
  | { do: "new session" };
type Turn = { kind: "talk" | "tool" | "open call" | "aborted call" | "late result"; words: number };

const turn: fc.Arbitrary<Turn> = fc.record({
  kind: fc.constantFrom("talk", "talk", "talk", "tool", "open call", "aborted call", "late result"),
  words: fc.integer({ min: 1, max: 260 }),
});
const turns = fc.array(turn, { minLength: 1, maxLength: 14 });
const budget = fc.integer({ min: 300, max: 6_000 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: turns.map((said): Step => ({ do: "say", turns: said })) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }).map((share): Step => ({ do: "go back", share })) },
  { weight: 2, arbitrary: budget.map((tokens): Step => ({ do: "compact", budget: tokens })) },
  { weight: 1, arbitrary: budget.map((keep): Step => ({ do: "compact", budget: 0, keep })) },
  { weight: 2, arbitrary: budget.map((window): Step => ({ do: "work", window })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(budget, turns)
      .map(([tokens, said]): Step => ({ do: "compact while it goes on", budget: tokens, turns: said })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "new session" }) },
);
const policy = fc.record({
  freshTailCount: fc.integer({ min: 0, max: 20 }),
  leafChunkTokens: fc.integer({ min: 200, max: 3_000 }),
  leafMinFanout: fc.integer({ min: 2, max: 6 }),
  condensedMinFanout: fc.integer({ min: 2, max: 4 }),
  incrementalMaxDepth: fc.integer({ min: 0, max: 4 }),
  contextThreshold: fc.double({ min: 0.2, max: 1, noNaN: true }),
});
/** What the model does when it is asked: it may answer, be too long, throw, or say nothing. */
const moods = fc.array(fc.constantFrom("short", "empty", "long", "throws", "none"), { minLength: 1, maxLength: 5 });

let ids = 0;
function messagesOf(said: readonly Turn[]): Message[] {
  return said.flatMap(({ kind, words }): Message[] => {
    ids += 1;
    const id = `p${ids}`;
    const text = `Number ${ids}: ${"some words about /srv/app and the plan ".repeat(Math.ceil(words / 8))}`;
    const call: Message = {
      id: `${id}c`,
      role: "assistant",
      content: [{ type: "tool_call", callId: id, name: "read", input: { path: `/srv/${ids}` } }],
      ...(kind === "aborted call" ? { stopReason: "aborted" } : {}),
    };
    const result: Message = {
      id: `${id}r`,
      role: "tool",
      content: [{ type: "tool_result", callId: id, output: text }],
    };
    const talk: Message = { id: `${id}t`, role: ids % 2 ? "user" : "assistant", content: text };
    if (kind === "talk") return [talk];
    if (kind === "tool") return [call, result];
    if (kind === "late result") return [call, talk, result];
    return [call, talk];
  });
}

async function branchOf(varve: Varve, session: Session): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const page of varve.transcripts.walk(session)) {
    messages.push(...page.flatMap((entry) => (entry.type === "message" ? [entry.message] : [])));
  }
  return messages;
}

/** The messages under each leaf, in order. */
function leavesIn(nodes: Expansion["nodes"]): Entry[][] {
  return nodes.flatMap((node) => [...leavesIn(node.children), ...(node.messages.length > 0 ? [node.messages] : [])]);
}

function openAll(varve: Varve, summaries: { id: string }[]): Promise<Expansion> {
  const summaryIds = summaries.map((summary) => summary.id);
  return varve.context.expand({ summaryIds, includeMessages: true, maxDepth: 50, tokenCap: 100_000_000 });
}

function messageOf(entry: Entry): Message[] {
  return entry.type === "message" ? [entry.message] : [];
}

/** Everything that must hold of a context, whatever was done before. */
async function check(varve: Varve, session: Session): Promise<void> {
  const { summaries, coveredSeq } = await varve.context.overview(session);
  const branch = await branchOf(varve, session);
  const nodes = summaries.length === 0 ? [] : (await openAll(varve, summaries)).nodes;
  const leaves = leavesIn(nodes);
  const opened = leaves.flat();
  const covered = opened.flatMap(messageOf);
  const behind: Message[] = [];
  for await (const page of varve.transcripts.walk(session)) {
    behind.push(
      ...page.flatMap((entry) => (entry.type === "message" && entry.seq > coveredSeq ? [entry.message] : [])),
    );
  }
  // Expanding all items gives back exactly the active branch, in order: nothing is under two items or none.
  expect([...covered, ...behind]).toEqual(branch);
  // A call and its result are under the same leaf, or both behind the summaries.
  const places = [...leaves.map((leaf) => leaf.flatMap(messageOf)), behind];
  for (const place of places) {
    const here = new Set(place.flatMap(callsOf));
    const elsewhere = new Set(places.filter((one) => one !== place).flatMap((one) => one.flatMap(callsOf)));
    for (const result of place.flatMap(resultsOf)) {
      expect(elsewhere.has(result) && !here.has(result), `the result of ${result} is parted from its call`).toBe(false);
    }
  }
  const view = await varve.context.assemble(session, { budgetTokens: 3_000 });
  expect(view.messages.length === 0 || view.trace.some((item) => item.in)).toBe(true);
}

function callsOf(message: Message): string[] {
  return typeof message.content === "string"
    ? []
    : message.content.flatMap((part) => (part.type === "tool_call" ? [part.callId] : []));
}

function resultsOf(message: Message): string[] {
  return typeof message.content === "string"
    ? []
    : message.content.flatMap((part) => (part.type === "tool_result" ? [part.callId] : []));
}

onEveryEngine("any conversation", (get) => {
  let count = 0;

  test("keeps every invariant over any steps, settings, models and interleavings", async () => {
    const under = get();
    const runs = under.kind === "sqlite" ? 25 : 8;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), policy, moods, async (steps, context, mood) => {
        count += 1;
        let asked = 0;
        const summary = async (): Promise<string> => {
          asked += 1;
          const now = mood[asked % mood.length];
          if (now === "throws") throw new Error("the model is out");
          if (now === "long") return "words and more words ".repeat(3_000);
          return now === "short" ? "They talked of /srv/app.\nFiles: none\nExpand for details about: the plan" : "";
        };
        const models = mood.includes("none") ? {} : { summary };
        const varve = await under.another({ config: { context }, models });
        const other = await under.another({ config: { context } });
        let session = await varve.sessions.resolve({ key: `agent:main:prop:direct:s${count}` });
        for (const one of steps) {
          session = await take(varve, other, session, one);
          await check(varve, session);
        }
        const faults = (await varve.doctor()).findings.flatMap((finding) => finding.faults);
        expect(faults).toEqual([]);
        await varve.close();
        await other.close();
      }),
      { numRuns: runs },
    );
  }, 180_000);
});

async function take(varve: Varve, other: Varve, session: Session, one: Step): Promise<Session> {
  switch (one.do) {
    case "say":
      await varve.context.commitTurn(session, `k${ids}`, messagesOf(one.turns), { windowTokens: 4_000 });
      return session;
    case "go back": {
      const branch = await branchOf(varve, session);
      const target = branch[Math.floor(one.share * (branch.length - 1))];
      if (target?.id !== undefined) await varve.transcripts.moveHead(session, target.id);
      return session;
    }
    case "compact":
      await varve.context.compact(
        session,
        one.budget === 0 ? { keepRecentTokens: one.keep } : { budgetTokens: one.budget },
      );
      return session;
    case "work":
      await varve.context.afterTurn(session, { windowTokens: one.window });
      await varve.jobs.drain();
      return session;
    case "compact while it goes on":
      await Promise.all([
        varve.context.compact(session, { budgetTokens: one.budget }),
        other.context.compact(session, { budgetTokens: Math.max(300, Math.floor(one.budget / 2)) }),
        other.context.ingest(session, messagesOf(one.turns)),
      ]);
      return session;
    case "new session":
      return varve.sessions.renew(session, "new");
  }
}
