/**
 * Any course of events: messages, `/new`, `/reset`, undo, forks, compactions, edits and jumps of the clock, in several
 * time zones and across both changes of the clock. Whatever happened, a view shows nothing that a reset took away, a fork
 * sees what its parent saw, no stamp moves, every view fits its budget, and every message opens byte for byte.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatStamp, type Message } from "../../src/domain/index.ts";
import { type ContextView, estimateTokens, type Session, type Varve } from "../../src/index.ts";
import { estimateMessageTokens } from "../../src/text/index.ts";
import { HandClock, onEveryEngine } from "../support/engines.ts";
import { isLongRun } from "../support/long-run.ts";

type Step =
  | { do: "say"; count: number; words: number }
  | { do: "new" }
  | { do: "reset" }
  | { do: "undo" }
  | { do: "fork"; share: number | undefined; enter: boolean }
  | { do: "compact"; budget: number }
  | { do: "compact by hand" }
  | { do: "background" }
  | { do: "edit"; share: number }
  | { do: "jump"; minutes: number };

const share = fc.double({ min: 0, max: 1, noNaN: true });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("say" as const),
      count: fc.integer({ min: 1, max: 12 }),
      words: fc.integer({ min: 3, max: 400 }),
    }),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ do: "new" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "reset" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: "undo" }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("fork" as const),
      share: fc.option(share, { nil: undefined }),
      enter: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.integer({ min: 300, max: 2_500 }).map((budget): Step => ({ do: "compact", budget })) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "compact by hand" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: "background" }) },
  { weight: 1, arbitrary: share.map((at): Step => ({ do: "edit", share: at })) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 40 * 60 }).map((minutes): Step => ({ do: "jump", minutes })) },
);

const zones = ["UTC", "Asia/Shanghai", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe"];
/** Hours before both changes of the clock in America and Europe, and an ordinary day. */
const starts = [
  Date.UTC(2026, 2, 8, 5),
  Date.UTC(2026, 2, 28, 23),
  Date.UTC(2026, 9, 24, 23),
  Date.UTC(2026, 10, 1, 4),
  Date.UTC(2026, 5, 15, 12),
];
const world = fc.record({
  timezone: fc.constantFrom(...zones),
  start: fc.constantFrom(...starts),
  retain: fc.constantFrom(0, 1, 2, 2, 3),
  mode: fc.constantFrom("none", "daily", "idle", "both"),
  tail: fc.integer({ min: 1, max: 12 }),
  leaf: fc.integer({ min: 200, max: 2_000 }),
});

type FoundBy<T> = T extends fc.Arbitrary<infer Value> ? Value : never;

/** A head that was moved back by an undo: the counters of the conversation include what was said after it. */
const rewound: [FoundBy<typeof step>[], FoundBy<typeof world>] = [
  [
    { do: "say", count: 5, words: 99 },
    { do: "new" },
    { do: "say", count: 1, words: 3 },
    { do: "undo" },
    { do: "fork", share: undefined, enter: false },
  ],
  { timezone: "UTC", start: Date.UTC(2026, 2, 8, 5), retain: 0, mode: "none", tail: 1, leaf: 200 },
];

/** What the test knows of the conversation without the engine: the messages that each session id may show. */
interface Known {
  /** The text of each message by its id, and its time. */
  said: Map<string, { text: string; time: number }>;
  /** The ids that a reset has taken from the current view, by session id. */
  hidden: Map<string, Set<string>>;
}

const marker = (id: string) => `<${id}>`;

async function pathOf(
  varve: Varve,
  session: Session,
): Promise<{ id: string; message: Message; seq: number; time: number }[]> {
  const found: { id: string; message: Message; seq: number; time: number }[] = [];
  for await (const page of varve.transcripts.walk(session)) {
    for (const entry of page) {
      if (entry.type === "message")
        found.push({ id: entry.id, message: entry.message, seq: entry.seq, time: entry.time });
    }
  }
  return found;
}

function tokensOf(view: ContextView): number {
  const messages = view.messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
  return messages + estimateTokens(view.systemPromptAddition ?? "");
}

/** The messages of a view that are shown one by one, by the markers in them; summaries are left out. */
function shownIds(view: ContextView, summaries: boolean): Set<string> {
  const texts = view.messages
    .map((message) => (typeof message.content === "string" ? message.content : JSON.stringify(message.content)))
    .filter((text) => summaries || !text.startsWith("<summary "));
  return new Set(texts.flatMap((text) => [...text.matchAll(/(?:<|&lt;)(x\d+)>/g)].map((found) => found[1] ?? "")));
}

onEveryEngine("any session", (get) => {
  let worlds = 0;

  test("keeps its word, whatever happens and in whatever order", async () => {
    const under = get();
    const runs = (under.kind === "sqlite" ? 30 : 10) * (isLongRun ? 5 : 1);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 22 }), world, async (steps, given) => {
        worlds += 1;
        const clock = new HandClock(given.start);
        const varve = await under.another({
          clock,
          config: {
            timezone: given.timezone,
            search: { embedder: "none" },
            memory: { recall: false },
            session: { reset: { mode: given.mode as "none", atHour: 4, idleMinutes: 600 } },
            context: {
              newSessionRetainDepth: given.retain,
              freshTailCount: given.tail,
              leafChunkTokens: given.leaf,
              leafMinFanout: 2,
              condensedMinFanout: 2,
            },
          },
        });
        const known: Known = { said: new Map(), hidden: new Map() };
        const address = { channel: "test", group: { type: "group" as const, id: `w${worlds}` } };
        let session = await varve.sessions.resolve(address);
        /** The last inherited entry of forks, by session id. */
        const forkedAt = new Map<string, number>();
        let isFork = false;
        let ids = 0;
        const hiddenOf = (one: Session) => known.hidden.get(one.sessionId) ?? new Set<string>();
        /** A new session id hides everything that was said before it on the path. */
        const entered = async (before: Session, after: Session): Promise<void> => {
          if (after.sessionId === before.sessionId || known.hidden.has(after.sessionId)) return;
          const past = (await pathOf(varve, after)).map(({ id }) => id);
          known.hidden.set(after.sessionId, new Set(past));
          forkedAt.set(after.sessionId, forkedAt.get(before.sessionId) ?? 0);
        };
        for (const one of steps) {
          const previous = session;
          switch (one.do) {
            case "say": {
              if (!isFork) session = await varve.sessions.resolve(address);
              await entered(previous, session);
              const messages = Array.from({ length: one.count }, (_, index): Message => {
                ids += 1;
                const id = `x${ids}`;
                const time = clock.now() + index * 1_000;
                const text = `${marker(id)} About berth ${ids}: ${"the ferry takes the north pier today ".repeat(Math.ceil(one.words / 7))}`;
                known.said.set(id, { text, time });
                return { id, role: ids % 2 ? "user" : "assistant", content: text, time };
              });
              await varve.context.ingest(session, messages);
              clock.advance(one.count * 1_000);
              break;
            }
            case "new":
            case "reset":
              session = await varve.sessions.renew(session, one.do);
              await entered(previous, session);
              break;
            case "undo": {
              const history = await varve.sessions.history(session);
              if (!history.some((item) => item.sessionId !== session.sessionId && known.hidden.has(session.sessionId)))
                break;
              session = await varve.sessions.restore(session).catch((error: { code?: string }) => {
                if (error.code === "NOTHING_TO_RESTORE") return session;
                throw error;
              });
              break;
            }
            case "fork": {
              const path = await pathOf(varve, session);
              const visible = path.filter(({ id }) => !hiddenOf(session).has(id));
              const at = one.share === undefined ? undefined : visible[Math.floor(one.share * (visible.length - 1))];
              const key = `agent:main:test:direct:f${worlds}-${ids}-${steps.indexOf(one)}`;
              const look = (of: Session, budgetTokens: number) =>
                varve.context.assemble(of, { budgetTokens, record: false });
              const budgets = [700, 1_500, 4_000];
              const seen = await Promise.all(budgets.map((budget) => look(session, budget)));
              const options = at === undefined ? { key } : { key, atEntry: `msg#${at.seq}` };
              const { session: child, isolated } = await varve.sessions.fork(session, options);
              expect(isolated).toBe(false);
              known.hidden.set(child.sessionId, new Set(hiddenOf(session)));
              forkedAt.set(child.sessionId, path.at(-1)?.seq ?? 0);
              for (const [index, budget] of budgets.entries()) {
                const view = await look(child, budget);
                if (at === undefined) {
                  expect(view.messages, "a fork sees what its parent saw").toEqual(seen[index]?.messages);
                  continue;
                }
                const later = path.filter(({ seq }) => seq > at.seq).map(({ id }) => id);
                const shown = shownIds(view, true);
                for (const id of later) expect(shown.has(id), `${id} was said after the fork`).toBe(false);
              }
              if (one.enter) {
                session = child;
                isFork = true;
              }
              break;
            }
            case "compact":
              await varve.context.compact(session, { budgetTokens: one.budget });
              break;
            case "compact by hand":
              await varve.context.compact(session);
              break;
            case "background":
              await varve.context.afterTurn(session, { windowTokens: 4_000 });
              await varve.jobs.drain();
              break;
            case "edit": {
              // A fork edits its own messages; those it inherited belong to its parent.
              const inherited = forkedAt.get(session.sessionId) ?? 0;
              const path = (await pathOf(varve, session)).filter(({ seq }) => seq > inherited);
              const own = path.filter(({ id }) => !hiddenOf(session).has(id));
              const target = own[Math.floor(one.share * (own.length - 1))];
              if (target) await varve.transcripts.moveHead(session, target.id);
              break;
            }
            case "jump":
              clock.advance(one.minutes * 60_000);
              break;
          }
          await check(varve, session, known, given);
        }
        expect((await varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
        await varve.close();
      }),
      { numRuns: runs, examples: [rewound] },
    );
  }, 280_000);
});

async function check(
  varve: Varve,
  session: Session,
  known: Known,
  { timezone, retain }: { timezone: string; retain: number },
): Promise<void> {
  const hidden = known.hidden.get(session.sessionId) ?? new Set<string>();
  const path = await pathOf(varve, session);
  // Every message opens byte for byte, and its stamp has not moved.
  for (const { id, message, time } of path) {
    const said = known.said.get(id);
    expect(message.content).toBe(said?.text);
    expect(time).toBe(said?.time);
  }
  const stamps = new Set(path.map(({ time }) => formatStamp(time, timezone)));
  const { summaries } = await varve.context.overview(session);
  for (const one of summaries) {
    for (const [, stamp = ""] of one.content.matchAll(/^\[(\d{4}-\d\d-\d\d \d\d:\d\d[^\]\s]*)\]/gm)) {
      expect(stamps, `a stamp of ${one.id}`).toContain(stamp);
    }
  }
  for (const budgetTokens of [600, 2_500]) {
    for (const prompt of [undefined, "Zebra quantum xylophone?"]) {
      const view = await varve.context.assemble(session, { budgetTokens, prompt, record: false });
      expect(tokensOf(view), `a view of ${budgetTokens}`).toBeLessThanOrEqual(budgetTokens);
      expect(view.estimatedTokens).toBe(tokensOf(view));
      // Deep summaries may tell of earlier sessions; messages never do, and with them no shallow summary.
      const shown = shownIds(view, false);
      const onPath = new Set(path.map(({ id }) => id));
      for (const id of shownIds(view, true)) expect(onPath.has(id), `${id} is on another branch`).toBe(true);
      for (const id of shown) expect(hidden.has(id), `${id} was taken away by a reset`).toBe(false);
      const depths = new Map(summaries.map((one) => [one.id, one]));
      const firstOwn = path.find(({ id }) => !hidden.has(id))?.seq ?? Number.MAX_SAFE_INTEGER;
      for (const item of view.trace) {
        const summary = item.kind === "summary" && item.in ? depths.get(item.id) : undefined;
        if (summary && summary.firstSeq < firstOwn) expect(summary.depth).toBeGreaterThanOrEqual(retain);
      }
    }
  }
}
