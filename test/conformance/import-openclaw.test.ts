import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Varve } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { writeLcmDatabase } from "../support/lcm-database.ts";
import { FakeAgentStore, header, lines, message, stamp, write } from "../support/openclaw-home.ts";

const hourMs = 3_600_000;

async function contents(varve: Varve, key: string, agent?: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const page of varve.transcripts.walk(await varve.sessions.get(key, agent))) {
    found.push(...page.flatMap((entry) => (entry.type === "message" ? [getText(entry.message.content)] : [])));
  }
  return found;
}

function getText(content: unknown): unknown {
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : content;
}

onEveryEngine(
  "a home of OpenClaw",
  (get) => {
    const id = (name: string) => `00000000-0000-4000-8000-${name.padStart(12, "0")}`;

    test("the database of every agent is imported: keys, policies, clocks, resets, archives and notes", async () => {
      const { varve, clock, home } = get();
      const now = clock.now();
      const old = now - 30 * 24 * hourMs;
      const folder = join(home, "openclaw-home");
      const main = new FakeAgentStore(folder, "main");
      main.add({
        key: "agent:main:main",
        sessionId: id("1"),
        entry: {
          sessionStartedAt: old,
          lastInteractionAt: now - hourMs,
          updatedAt: now - hourMs,
          inputTokens: 7,
          outputTokens: 5,
        },
        createdAt: old,
        events: [
          header(id("1"), old),
          message("m1", null, "user", "before the reset", old + 1),
          message("m2", "m1", "assistant", `a long answer ${"x".repeat(2000)}`, old + 2),
          { type: "reset", id: "r1", parentId: "m2", timestamp: stamp(old + 3), reason: "new" },
          { type: "model_change", id: "c1", parentId: "r1", timestamp: stamp(old + 4), provider: "p", modelId: "m" },
          message("m3", "c1", "user", "after the reset", now - hourMs),
        ],
      });
      const facts = {
        ...{
          sendPolicy: "deny",
          thinkingLevel: "high",
          verboseLevel: "on",
          reasoningLevel: "on",
          elevatedLevel: "full",
        },
        ...{ providerOverride: "p", modelOverride: "m", compactionCount: 3, totalTokens: 646, label: "Family" },
        ...{ lastInteractionAt: now - hourMs, sessionStartedAt: old, skillsSnapshot: { prompt: "y".repeat(9000) } },
      };
      const telegram = "agent:main:telegram:dm:5054873275";
      main.add({
        key: telegram,
        sessionId: id("2"),
        entry: facts,
        createdAt: old,
        events: [header(id("2"), old), message("t1", null, "user", "denied here", old)],
      });
      main.add({
        key: telegram,
        sessionId: id("3"),
        current: id("2"),
        createdAt: old - hourMs,
        events: [header(id("3"), old - hourMs), message("t0", null, "user", "an earlier sitting", old - hourMs)],
      });
      main.add({
        key: "agent:main:telegram:group:-100123:topic:42",
        sessionId: id("4"),
        entry: { lastInteractionAt: now - hourMs },
        createdAt: old,
        events: [header(id("4"), old), message("g1", null, "user", "in the topic", old)],
      });
      for (const [index, key] of [
        "agent:main:cron:nightly",
        "agent:main:hook:abc",
        "agent:main:main:thread:77",
        "global",
        "agent:main:telegram:slash:9",
      ].entries()) {
        const own = id(`5${index}`);
        main.add({
          key,
          sessionId: own,
          createdAt: old,
          events: [header(own, old), message("x", null, "user", key, old)],
        });
      }
      main.add({
        key: "agent:main:empty",
        sessionId: id("60"),
        entry: { sendPolicy: "deny" },
        createdAt: old,
        events: [],
      });
      main.add({
        key: "agent:main:subagent:helper",
        sessionId: id("61"),
        entry: { parent: "agent:main:main" },
        createdAt: old,
        events: [header(id("61"), old), message("s1", null, "user", "help the main one", old)],
      });
      main.freeze(id("4"));
      main.addArchive("agent:main:slack:channel:c1", id("7"), "deleted", old, [
        header(id("7"), old),
        message("d1", null, "user", "the deleted one", old),
      ]);
      const work = new FakeAgentStore(folder, "work");
      work.add({
        key: "agent:work:main",
        sessionId: id("8"),
        createdAt: old,
        events: [header(id("8"), old), message("w1", null, "user", "at work", old)],
      });
      write(
        join(folder, "openclaw.json"),
        `{ "agents": { "defaults": { "workspace": ${JSON.stringify(join(folder, "ws"))} }, },
           "commands": { "ownerAllowFrom": ["telegram:5054873275"] } }`,
      );
      write(join(folder, "ws", "MEMORY.md"), "# Long-term\n\nThe gondola is called Ferdinand.\n");
      write(join(folder, "ws", "memory", "2026-01-02.md"), "Met the zookeeper.\n");

      const plan = await varve.import([folder], { dryRun: true });
      expect(plan).toMatchObject({ dryRun: true, files: 13, imported: 14, quarantined: 0 });
      expect((await varve.sessions.list()).sessions).toEqual([]);
      expect(plan.transcripts).toContainEqual(
        expect.objectContaining({
          agent: "main",
          key: "agent:main:telegram:direct:5054873275",
          from: telegram,
          messages: 1,
        }),
      );

      const report = await varve.import([folder]);
      expect(report).toMatchObject({ files: 13, sessions: 14, imported: 14, duplicates: 0, quarantined: 0 });
      expect(report.notes.map((one) => one.relativePath)).toEqual(["MEMORY.md", "memory/2026-01-02.md"]);

      const denied = await varve.sessions.get("agent:main:telegram:direct:5054873275");
      expect(denied).toMatchObject({
        ...{ sessionId: id("2"), sendPolicy: "deny", thinkingLevel: "high", verboseLevel: "on", reasoningLevel: "on" },
        ...{
          elevatedLevel: "full",
          providerOverride: "p",
          modelOverride: "m",
          compactionCount: 3,
          displayName: "Family",
        },
        ...{ contextTokens: 646, lastInteractionAt: now - hourMs, sessionStartedAt: old },
      });
      expect(JSON.stringify(denied.metadata).length).toBeLessThan(2_000);
      expect(varve.sessions.maySend(denied).allowed).toBe(false);
      expect(await varve.sessions.history(denied)).toMatchObject([
        { sessionId: id("2"), archived: false },
        { sessionId: id("3"), archived: true },
      ]);
      expect((await varve.sessions.get("agent:main:empty")).sendPolicy).toBe("deny");
      expect(await contents(varve, "agent:main:cron:nightly")).toEqual(["agent:main:cron:nightly"]);
      expect(await contents(varve, "cron:nightly")).toEqual(["agent:main:cron:nightly"]);
      expect(await contents(varve, "global")).toEqual(["global"]);
      expect(await contents(varve, "agent:main:openclaw:direct:telegram:slash:9")).toEqual([
        "agent:main:telegram:slash:9",
      ]);
      expect(await contents(varve, "agent:work:main")).toEqual(["at work"]);

      const listed = (await varve.sessions.list()).sessions;
      expect(listed.find(({ key }) => key === "agent:main:main")?.subagents).toBe(1);
      expect(listed.some(({ key }) => key.includes("subagent"))).toBe(false);

      // The view begins after the reset; what was before it is still there.
      const session = await varve.sessions.get("agent:main:main");
      const times = { lastInteractionAt: now - hourMs, updatedAt: now - hourMs };
      expect(session).toMatchObject({ inputTokens: 7, outputTokens: 5, ...times });
      const view = await varve.context.assemble(session, { budgetTokens: 8_000 });
      expect(view.messages.map((one) => one.content)).toEqual(["after the reset"]);
      expect(await contents(varve, "agent:main:main")).toEqual([
        "before the reset",
        `a long answer ${"x".repeat(2000)}`,
        "after the reset",
      ]);

      // The next message of each chat goes on in the imported session, and does not reset it.
      const answering = await get().another({ background: true });
      const next = async (inbound: object) =>
        answering.turns.send({ channel: "telegram", from: { id: "5054873275" }, text: "next", ...inbound });
      expect(await next({ chat: { type: "direct", id: "5054873275" }, id: "n1" })).toMatchObject({
        key: "agent:main:main",
      });
      expect((await varve.sessions.get("agent:main:main")).sessionId).toBe(session.sessionId);
      expect(await next({ chat: { type: "group", id: "-100123", thread: "42" }, id: "n2" })).toMatchObject({
        key: "agent:main:telegram:group:-100123:topic:42",
      });
      expect((await varve.sessions.get("agent:main:telegram:group:-100123:topic:42")).sessionId).toBe(id("4"));
      expect(await next({ chat: { type: "direct", id: "5054873275", thread: "77" }, id: "n3" })).toMatchObject({
        key: "agent:main:main:thread:77",
      });
      expect(await contents(varve, "agent:main:telegram:group:-100123:topic:42")).toEqual(
        expect.arrayContaining(["in the topic", "next"]),
      );

      const { results } = await varve.search.find("gondola Ferdinand", { kinds: ["chunk"] });
      expect(results[0]?.citation).toMatch(/^MEMORY\.md#/);

      // OpenClaw goes on: another import adds what is new, a reset included.
      main.append(id("2"), [message("t2", "t1", "user", "one more", now)]);
      work.append(id("8"), [
        { type: "reset", id: "r8", parentId: "w1", timestamp: stamp(now), reason: "reset" },
        message("w2", "r8", "user", "a new day", now),
      ]);
      expect(await varve.import([folder])).toMatchObject({ imported: 2, quarantined: 0 });
      expect(await contents(varve, "agent:main:telegram:direct:5054873275")).toEqual(["denied here", "one more"]);
      const renewed = await varve.sessions.get("agent:work:main");
      expect(renewed.sessionId).toBe(`${id("8")}.r8`);
      const fresh = await varve.context.assemble(renewed, { budgetTokens: 8_000 });
      expect(fresh.messages.map((one) => one.content)).toEqual(["a new day"]);
      expect(await varve.import([folder])).toMatchObject({ imported: 0, quarantined: 0 });
      expect((await varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
      main.close();
      work.close();
    });

    test("a home is watched: what OpenClaw writes is imported as it is written", async () => {
      const { varve, clock, home } = get();
      const now = clock.now();
      const folder = join(home, "watched-home");
      const store = new FakeAgentStore(folder, "watcher");
      const first = [header(id("71"), now), message("v1", null, "user", "before", now)];
      store.add({ key: "agent:watcher:main", sessionId: id("71"), createdAt: now, events: first });
      await varve.import([folder]);
      const stopping = new AbortController();
      const imported = new Promise<number>((resolve, reject) => {
        varve
          .watch([folder], {
            signal: stopping.signal,
            onReady: () => store.append(id("71"), [message("v2", "v1", "user", "while it is watched", now)]),
            onImport: (report) => report.imported > 0 && resolve(report.imported),
            onError: reject,
          })
          .catch(reject);
      });
      expect(await imported).toBe(1);
      stopping.abort();
      expect(await contents(varve, "agent:watcher:main")).toEqual(["before", "while it is watched"]);
      store.close();
    });

    test("the files of older versions are imported as well, archives included", async () => {
      const { varve, clock, home } = get();
      const now = clock.now();
      const old = now - 3 * hourMs;
      const sessions = join(home, "old-home", "agents", "helper", "sessions");
      mkdirSync(sessions, { recursive: true });
      const one = { sessionId: id("91"), updatedAt: now - hourMs, sendPolicy: "deny", modelOverride: "m2" };
      const topic = {
        sessionId: id("92"),
        updatedAt: now - hourMs,
        sessionFile: join(sessions, `${id("92")}-topic-5.jsonl`),
      };
      write(
        join(sessions, "sessions.json"),
        JSON.stringify({
          main: one,
          "agent:helper:telegram:group:-1:topic:5": topic,
          "discord:dm:9": { sessionId: id("93") },
        }),
      );
      const transcript = (own: string, text: string) =>
        lines([header(own, old), message("a", null, "user", text, old + hourMs)]);
      write(join(sessions, `${id("91")}.jsonl`), transcript(id("91"), "the main chat"));
      write(join(sessions, `${id("92")}-topic-5.jsonl`), transcript(id("92"), "the topic"));
      write(join(sessions, `${id("93")}.jsonl`), transcript(id("93"), "the dm"));
      write(join(sessions, `${id("94")}.jsonl.reset.2026-01-01T00-00-00.000Z`), transcript(id("94"), "reset long ago"));
      write(
        join(sessions, `${id("95")}.jsonl.deleted.2026-01-01T00-00-00.000Z`),
        transcript(id("95"), "deleted long ago"),
      );
      const report = await varve.import([join(home, "old-home")]);
      expect(report).toMatchObject({ files: 5, sessions: 5, imported: 5, quarantined: 0 });
      const main = await varve.sessions.get("agent:helper:main");
      // The last message says when a chat was last used, not its start.
      expect(main).toMatchObject({ sendPolicy: "deny", modelOverride: "m2", lastInteractionAt: old + hourMs });
      expect(await contents(varve, "agent:helper:telegram:group:-1:topic:5")).toEqual(["the topic"]);
      expect(await contents(varve, "agent:helper:discord:direct:9")).toEqual(["the dm"]);
      const { results } = await varve.search.find("reset long ago", { agent: "helper" });
      expect(JSON.stringify(results)).toContain("reset long ago");
      expect(await varve.import([join(home, "old-home")], { agent: "helper" })).toMatchObject({ imported: 0 });
      await expect(varve.import([join(home, "old-home")], { agent: "nobody" })).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    });

    test("a folder with the database of lossless-claw and nothing else is imported too", async () => {
      const { varve, home } = get();
      const folder = join(home, "only-lossless-claw");
      mkdirSync(folder);
      const messages = Array.from({ length: 16 }, (_, index) => ({
        role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
        content: `Line ${index} about the quince tree.`,
      }));
      writeLcmDatabase(join(folder, "lcm.db"), {
        sessionId: "lcm-only",
        key: "agent:main:telegram:direct:11",
        messages,
      });
      expect(await varve.import([folder])).toMatchObject({ imported: 16, lcmFiles: [join(folder, "lcm.db")] });
      expect(await contents(varve, "agent:main:telegram:direct:11")).toHaveLength(16);
    });
  },
  { config: { search: { embedder: "none" }, turn: { runner: "offline", debounceMs: 0 } } },
);
