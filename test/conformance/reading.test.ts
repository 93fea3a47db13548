import { expect, test } from "vitest";
import type { EngineEvent } from "../../src/domain/index.ts";
import { onEveryEngine } from "../support/engines.ts";

onEveryEngine(
  "reading what is there",
  (get) => {
    test("a session id that was archived or renewed is read and exported by itself", async () => {
      const { varve } = get();
      const first = await varve.sessions.resolve({ key: "agent:main:test:direct:archived" });
      await varve.context.ingest(first, [{ id: "1", role: "user", content: "in the archive" }]);
      const second = await varve.sessions.renew(first, "reset");
      await varve.context.ingest(second, [{ id: "2", role: "user", content: "in the second" }]);
      const third = await varve.sessions.renew(second, "new");
      await varve.context.ingest(third, [{ id: "3", role: "user", content: "in the third" }]);
      const read = async (name: string) => {
        const session = await varve.sessions.find(name);
        const page = await varve.transcripts.read(session, { limit: 50, currentOnly: true });
        const texts = page.entries.flatMap((entry) => (entry.type === "message" ? [entry.message.content] : []));
        let exported = "";
        for await (const piece of varve.transcripts.export(session, "markdown")) exported += piece;
        return { current: session.current, texts, exported };
      };
      expect(await read(first.sessionId)).toMatchObject({ current: false, texts: ["in the archive"] });
      expect((await read(first.sessionId)).exported).toContain("in the archive");
      expect(await read(second.sessionId)).toMatchObject({ current: false, texts: ["in the second"] });
      expect(await read(third.sessionId)).toMatchObject({ current: true, texts: ["in the third"] });
      expect((await varve.sessions.find(first.key)).sessionId).toBe(third.sessionId);
      await expect(varve.sessions.find("nobody-has-this-id")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    });

    test("a message that opens or renews a session publishes an event", async () => {
      const answering = await get().another({ background: true });
      const events: EngineEvent[] = [];
      const stop = answering.onEvent((event) => events.push(event));
      const send = (id: string, text: string) =>
        answering.turns.send({ id, session: "agent:main:test:direct:events", text });
      await send("e1", "hello");
      await send("e2", "/new once more");
      stop();
      const opened = events.filter((event) => event.type.startsWith("session."));
      expect(opened.map(({ type, key }) => [type, key])).toEqual([
        ["session.created", "agent:main:test:direct:events"],
        ["session.renewed", "agent:main:test:direct:events"],
      ]);
      expect(opened[1]?.data).toEqual({ reason: "new" });
    });

    test("a search in a channel finds direct chats that share the main session", async () => {
      const { varve } = get();
      const answering = await get().another({ background: true });
      const send = (channel: string, id: string, text: string) =>
        answering.turns.send({ id, channel, from: { id: "7" }, chat: { type: "direct", id: "7" }, text });
      await send("telegram", "t1", "The platypus escaped on Monday.");
      await send("slack", "s1", "The platypus was found on Tuesday.");
      const found = async (channel: string) =>
        (await varve.search.find("platypus", { channel, kinds: ["message"] })).results
          .map(({ snippet }) => snippet)
          .join("\n");
      expect(await found("telegram")).toContain("Monday");
      expect(await found("telegram")).not.toContain("found on Tuesday");
      expect(await found("slack")).toContain("Tuesday");
      expect(await found("signal")).toBe("");
      const tools = await varve.tools();
      const search = tools.find((tool) => tool.name === "memory_search");
      const answer = await search?.run({ query: "platypus", channel: "telegram" });
      expect(JSON.stringify(answer)).toContain("Monday");
    });

    test("every matching line of a large file is reported, up to the limit, which is named", async () => {
      const { varve } = get();
      const session = await varve.sessions.resolve({ key: "agent:main:test:direct:large" });
      const text = Array.from({ length: 4_000 }, (_, index) =>
        index % 100 === 0 ? `line with needle${index} in it` : `an ordinary line number ${index} of this file`,
      ).join("\n");
      await varve.context.ingest(session, [{ id: "1", role: "user", content: text }]);
      const grep = (pattern: string, limit: number) =>
        varve.context.grep({ pattern, session, scope: "files", mode: "regex", limit });
      const all = await grep("needle\\d+", 50);
      expect(all.matches).toHaveLength(40);
      expect(all.matches.slice(0, 2).map(({ line, snippet }) => [line, snippet.includes("needle")])).toEqual([
        [1, true],
        [101, true],
      ]);
      expect(all.cut).toBeUndefined();
      const some = await grep("needle\\d+", 10);
      expect(some.matches).toHaveLength(10);
      expect(some.cut).toContain("more matches than the limit of 10");
      expect((await grep("needle0 in it\\nan ordinary", 10)).matches).toHaveLength(1);
    });

    test("sub-agents are folded under the session that started them, in every list", async () => {
      const { varve } = get();
      const parent = await varve.sessions.resolve({ key: "agent:main:test:direct:parent" });
      await varve.context.ingest(parent, [{ id: "1", role: "user", content: "start two" }]);
      const one = await varve.sessions.fork(parent);
      const two = await varve.sessions.fork(parent);
      const nested = await varve.sessions.fork(one.session);
      const keys = async (options = {}) =>
        (await varve.sessions.list({ limit: 1000, ...options })).sessions.map(({ key }) => key);
      const listed = (await varve.sessions.list({ limit: 1000 })).sessions;
      expect(listed.find(({ key }) => key === parent.key)).toMatchObject({ subagents: 2 });
      expect(listed.some(({ key }) => key.includes(":subagent:"))).toBe(false);
      expect((await keys({ parent: parent.key })).sort()).toEqual([one.session.key, two.session.key].sort());
      expect(await keys({ parent: one.session.key })).toEqual([nested.session.key]);
      expect(await keys({ all: true })).toContain(nested.session.key);
      expect(await keys({ match: "subagent" })).toHaveLength(3);
      const tools = await varve.tools();
      const answer = await tools.find((tool) => tool.name === "session_list")?.run({});
      expect(JSON.stringify(answer)).toContain("2 sub-agents");
      expect(JSON.stringify(answer)).not.toContain(two.session.key);
    });

    test("a summary that is larger than the cap says so", async () => {
      const { varve } = get();
      const session = await varve.sessions.resolve({ key: "agent:main:test:direct:expand" });
      const messages = Array.from({ length: 60 }, (_, index) => ({
        id: `m${index}`,
        role: "user" as const,
        content: `Message ${index}: we moved server ${index} to /srv/app${index} because the old one failed.`,
      }));
      await varve.context.ingest(session, messages);
      await varve.context.compact(session, { summary: "A summary that is not short. ".repeat(60) });
      const { summaries } = await varve.context.overview(session);
      const [summary] = summaries;
      const expansion = await varve.context.expand({ summaryIds: [summary?.id ?? ""], tokenCap: 20 });
      expect(expansion.nodes).toEqual([]);
      expect(expansion.cut).toContain(`${summary?.id} has ${summary?.tokens} tokens, more than the cap of 20`);
    });
  },
  { config: { search: { embedder: "none" }, turn: { runner: "offline", debounceMs: 0 } } },
);
