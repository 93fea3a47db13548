import { expect, test } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import type { Session } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { WordEmbedder } from "../support/word-embedder.ts";

const embedder = new WordEmbedder({ plane: "flight", airplane: "flight", departs: "leaves" });
const day = 86_400_000;
const start = Date.UTC(2025, 4, 1);

const story: Message[] = [
  { id: "m1", role: "user", name: "Ann", content: "My flight leaves on Friday at seven." },
  { id: "m2", role: "assistant", name: "Bob", content: "Shall I book a taxi for you?" },
  { id: "m3", role: "user", name: "Ann", content: "Yes, and remember that the ticket is JIRA-4711." },
  { id: "m4", role: "assistant", name: "Bob", content: "The garden needs water every second day." },
  { id: "m5", role: "user", name: "Ann", content: "Set MAX_RETRY_COUNT to five in src/store/open.ts please." },
  { id: "m6", role: "user", name: "Ann", content: "我们星期五去北京看朋友。" },
  { id: "m7", role: "assistant", name: "Bob", content: "hello" },
  { id: "m8", role: "user", name: "Ann", content: "The taxi was late, the driver was kind." },
].map((message, index) => ({ ...message, role: message.role as "user", time: start + index * day }));

onEveryEngine(
  "search",
  (get) => {
    const sessionOf = async (key: string): Promise<Session> => get().varve.sessions.resolve({ key });
    const filled = async (): Promise<Session> => {
      const session = await sessionOf("agent:main:test:direct:story");
      await get().varve.context.ingest(session, story);
      await get().varve.search.index();
      return session;
    };
    const ids = async (query: string, more: object = {}) => {
      const session = await filled();
      const answer = await get().varve.search.find(query, { session, kinds: ["message"], ...more });
      return answer.results.map((result) => result.id);
    };

    test("words and meaning both find, and the answer says how", async () => {
      const session = await filled();
      const answer = await get().varve.search.find("When does the airplane depart on Friday?", {
        session,
        explain: true,
      });
      expect(answer.mode).toBe("hybrid");
      expect(answer.results[0]).toMatchObject({ kind: "message", id: "m1", sessionKey: session.key });
      expect(answer.results[0]?.citation).toMatch(/^msg#\d+$/);
      expect(Object.keys(answer.results[0]?.stages ?? {})).toEqual(
        expect.arrayContaining(["fusion", "minScore", "rerank", "recency", "hardMinScore", "noise", "diversity"]),
      );
    });

    test("meaning alone finds where no word matches", async () => {
      const session = await filled();
      const answer = await get().varve.search.find("airplane", { session, kinds: ["message"] });
      expect(answer.results[0]).toMatchObject({ id: "m1", sources: ["vector"] });
    });

    test("a ticket number and a constant are found exactly", async () => {
      expect((await ids("JIRA-4711"))[0]).toBe("m3");
      expect((await ids("MAX_RETRY_COUNT"))[0]).toBe("m5");
      expect((await ids("src/store/open.ts"))[0]).toBe("m5");
    });

    test("a quoted phrase must be there and -word must not", async () => {
      expect(await ids('"garden needs"')).toEqual(["m4"]);
      expect(await ids("taxi -driver")).not.toContain("m8");
      expect(await ids("taxi -driver")).toContain("m2");
    });

    test("two characters of a script without spaces are found", async () => {
      expect((await ids("北京", { retrievers: ["lexical"] }))[0]).toBe("m6");
      expect((await ids("什么时候去北京?", { retrievers: ["lexical"] }))[0]).toBe("m6");
    });

    test("a question in the name of a speaker prefers what that one said", async () => {
      expect((await ids("What did Bob say about a taxi?"))[0]).toBe("m2");
    });

    test("time, conversation and agent are limits no result crosses", async () => {
      expect(await ids("taxi", { before: start + 4 * day })).not.toContain("m8");
      expect(await ids("taxi", { since: start + 4 * day })).not.toContain("m2");
      const other = await sessionOf("agent:main:test:direct:other");
      await get().varve.context.ingest(other, [{ id: "o1", role: "user", content: "A taxi in another town." }]);
      await get().varve.search.index();
      expect(await ids("taxi town")).not.toContain("o1");
      const everywhere = await get().varve.search.find("taxi town", { kinds: ["message"] });
      expect(everywhere.results[0]?.id).toBe("o1");
      const foreign = await get().varve.search.find("taxi", { agent: "somebody-else" });
      expect(foreign.results).toEqual([]);
      expect(foreign.confidence).toBe("none");
    });

    test("a fork finds what was said before it, not what was said after", async () => {
      const session = await filled();
      const { session: child } = await get().varve.sessions.fork(session, {
        key: "agent:main:test:direct:fork",
        atEntry: "m4",
      });
      const found = await get().varve.search.find("taxi ticket", { session: child, kinds: ["message"] });
      expect(found.results.map((result) => result.id)).toEqual(expect.arrayContaining(["m2", "m3"]));
      expect(found.results.map((result) => result.id)).not.toContain("m8");
    });

    test("a greeting is moved to the end, with a note", async () => {
      const session = await filled();
      const answer = await get().varve.search.find("hello", { session, kinds: ["message"], limit: 8 });
      const greeting = answer.results.find((result) => result.id === "m7");
      expect(greeting?.notes?.[0]).toContain("greeting");
      expect(answer.results.at(-1)?.id).toBe("m7");
    });

    test("what goes beyond the limit is said", async () => {
      const session = await filled();
      const answer = await get().varve.search.find("taxi garden flight", { session, kinds: ["message"], limit: 1 });
      expect(answer.results).toHaveLength(1);
      expect(answer.cut.join(" ")).toContain("beyond the limit");
    });

    test("a failing model degrades to words and instant vectors, and says so", async () => {
      const session = await filled();
      embedder.failing = true;
      try {
        const answer = await get().varve.search.find("taxi", { session, kinds: ["message"] });
        expect(answer).toMatchObject({ mode: "hybrid", tiers: ["instant"] });
        expect(answer.degraded.join(" ")).toContain("the model is away");
        expect(answer.degraded.join(" ")).toContain("instant vectors were searched");
        expect(answer.results.map((result) => result.id)).toContain("m2");
      } finally {
        embedder.failing = false;
      }
    });

    test.each([
      'NEAR("a" "b", 5)',
      "words:taxi",
      "taxi AND",
      "*",
      '"',
      "-",
      "(((",
      "a:* & !b | c",
      "'; drop table entries; --",
      "\u0000\ud800",
      "^taxi + {x}",
      "taxi*",
      "OR OR OR",
      `${"-".repeat(5000)}x`,
      "word ".repeat(5000),
    ])("no query is syntax: %.20s", async (query) => {
      const session = await filled();
      const answer = await get().varve.search.find(query, { session, interactive: true });
      expect(answer.query).toBe(query);
    });

    test("the beginning of a word is enough while somebody types", async () => {
      expect(await ids("gard", { interactive: true, retrievers: ["lexical"] })).toContain("m4");
      expect(await ids("gard", { retrievers: ["lexical"] })).toEqual([]);
    });

    test("the classic profile keeps exact names on top", async () => {
      expect((await ids("JIRA-4711", { profile: "classic" }))[0]).toBe("m3");
    });

    test("summaries are found together with messages", async () => {
      const session = await sessionOf("agent:main:test:direct:long");
      const messages = Array.from({ length: 60 }, (_, index) => ({
        id: `l${index}`,
        role: "user" as const,
        content: `Line ${index} about the lighthouse keeper and the storm. ${"More words follow here. ".repeat(20)}`,
      }));
      await get().varve.context.ingest(session, messages);
      await get().varve.context.compact(session, { budgetTokens: 1500 });
      const answer = await get().varve.search.find("lighthouse storm", { session, kinds: ["summary"] });
      expect(answer.results.length).toBeGreaterThan(0);
      expect(answer.results.every((result) => result.kind === "summary" && result.citation.startsWith("sum_"))).toBe(
        true,
      );
    });

    test("a deleted session is not found again", async () => {
      const session = await sessionOf("agent:main:test:direct:gone");
      await get().varve.context.ingest(session, [{ id: "g1", role: "user", content: "The password is swordfish." }]);
      await get().varve.search.index();
      expect((await get().varve.search.find("swordfish")).results[0]?.id).toBe("g1");
      await get().varve.sessions.delete(session);
      const after = await get().varve.search.find("swordfish");
      expect(after.results.map((result) => result.id)).not.toContain("g1");
    });

    test("coverage counts vectors, and a second pass embeds nothing", async () => {
      await filled();
      await get().varve.search.index();
      const before = embedder.calls;
      expect(await get().varve.search.index()).toMatchObject({ status: "done", embedded: 0 });
      expect(embedder.calls).toBe(before);
      const coverage = await get().varve.search.coverage();
      expect(coverage.vectors).toBe(coverage.messages);
    });

    test("messages for a context are ranked by what a prompt is about", async () => {
      const session = await filled();
      const ranked = await get().varve.search.findMessages({
        visibility: { agent: session.agent, conversations: [session.conversation] },
        prompt: "the taxi driver",
        limit: 3,
      });
      const best = await get().varve.transcripts.entry(session, "m8");
      expect(ranked[0]?.entry.seq).toBe(best.seq);
    });
  },
  { models: { embedder } },
);
