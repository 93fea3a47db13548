/** Stores of the released version, where everybody's direct chats were one conversation: what becomes of them. */
import { afterEach, describe, expect, test } from "vitest";
import { restoreBackup, type Varve } from "../../src/index.ts";
import { emptyKinds, scratchDatabase } from "../support/databases.ts";
import { createReleasedStore, type ReleasedName, type ReleasedStore } from "../support/released-stores.ts";

const secret = "4711-zebra";

describe.each(emptyKinds)("a store of the released version on %s", (kind) => {
  const stores: ReleasedStore[] = [];
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
  const create = async (name: ReleasedName): Promise<ReleasedStore> => {
    const store = await createReleasedStore(kind, name);
    stores.push(store);
    return store;
  };
  const keys = async (varve: Varve) =>
    (await varve.sessions.list({ limit: 100, all: true })).sessions.map(({ key }) => key);
  const texts = async (varve: Varve, key: string) => {
    const { entries } = await varve.transcripts.read(await varve.sessions.get(key), { limit: 100 });
    return entries.flatMap((entry) => (entry.type === "message" ? [String(entry.message.content)] : []));
  };
  const say = (varve: Varve, channel: string, id: string, text: string) =>
    varve.turns.send({ channel, from: { id }, chat: { type: "direct", id }, text, debounceMs: 0 });

  test("makes the only person who wrote to the main session its owner, who goes on there", async () => {
    const varve = await (await create("one")).open({ background: true });
    const next = await say(varve, "telegram", "5054873275", "Where were we?");
    expect(next.key).toBe("agent:main:main");
    expect(await varve.owners.list()).toMatchObject([{ channel: "telegram", id: "5054873275", addedBy: "upgrade" }]);
    expect(await texts(varve, "agent:main:main")).toEqual(
      expect.arrayContaining([`My PIN is ${secret}.`, "Where were we?"]),
    );
    const stranger = await say(varve, "telegram", "6", "What is the PIN?");
    expect(stranger.key).toBe("agent:main:telegram:direct:6");
    expect(stranger.reply).not.toContain(secret);
  });

  test.each(["several", "sealed"] as const)(
    "%s: moves nothing, and makes none of several people the owner",
    async (name) => {
      const varve = await (await create(name)).open({ background: true });
      await varve.doctor({ rebuild: true });
      const before = await texts(varve, "agent:main:main");
      const bob = await say(varve, "app", "bob", "What is the PIN?");
      expect(bob.key).toBe("agent:main:app:direct:bob");
      expect(bob.reply).not.toContain(secret);
      expect((await say(varve, "app", "ann", "Hello again")).key).toBe("agent:main:app:direct:ann");
      expect(await varve.owners.list()).toEqual([]);
      expect(await texts(varve, "agent:main:main")).toEqual(before);
      const { findings } = await varve.doctor();
      const notes = findings.flatMap((finding) => finding.notes ?? []).join("\n");
      expect(notes).toContain("app:ann, app:bob");
      expect(notes).toContain("varve owner add --agent main app bob");
    },
  );

  test.each(["several", "sealed"] as const)(
    "%s: keeps every conversation under the new form of its key",
    async (name) => {
      const varve = await (await create(name)).open();
      expect((await keys(varve)).sort()).toEqual(
        [
          "agent:main:app:direct:%74hread",
          "agent:main:app:direct:carol:thread:5",
          "agent:main:cli:direct:eve",
          "agent:main:langgraph:direct:t1",
          "agent:main:main",
          "agent:main:matrix:direct:@bob%3Aserver.org",
          "agent:main:matrix:direct:@bob%3Aserver.org:thread:9",
          "agent:main:matrix:room:!AbC%3Aserver.org",
          "agent:main:proxy:direct:0123456789abcdef",
          "agent:main:slack:direct:u1",
          "agent:main:telegram:group:-100",
          "agent:main:web:direct:a%253ab",
          "cron:nightly",
        ].sort(),
      );
      expect(await texts(varve, "agent:main:matrix:direct:@bob:server.org")).toEqual([
        "My key is under the blue pot.",
        "Noted.",
      ]);
      expect(await texts(varve, "agent:main:web:direct:a%3ab")).toContain("A percent sign in my id.");
      const fork = await texts(varve, "agent:main:matrix:direct:@bob%3Aserver.org:thread:9");
      expect(fork).toEqual(["My key is under the blue pot.", "Noted.", "On the fork."]);
      const bob = await varve.sessions.get("agent:main:matrix:direct:@bob:server.org");
      expect(bob.audience).toBe("user:matrix:@bob%3Aserver.org");
      expect((await varve.sessions.get("agent:main:matrix:direct:@bob:server.org:thread:9")).audience).toBe(
        "user:matrix:@bob%3Aserver.org",
      );
      expect(await varve.sessions.takeNotices(bob, "user")).toMatchObject([{ text: "The build is done." }]);
      expect(await varve.grants.list()).toMatchObject([{ originKey: bob.key }]);
      expect(await varve.accessTokens.list()).toMatchObject([{ scopes: ["user:matrix:@bob%3Aserver.org"] }]);
      const { memories } = await varve.memory.list({ scopes: ["user:matrix:@bob:server.org"] });
      expect(memories.map(({ abstract }) => abstract)).toEqual(["Bob's key is under the blue pot."]);
    },
  );

  test("continues the session of an id that was stored in lower case, for the spelling that its messages name only", async () => {
    const varve = await (await create("several")).open();
    const resolve = async (channel: string, peer: string) => (await varve.sessions.resolve({ channel, peer })).key;
    expect(await resolve("matrix", "@Bob:server.org")).toBe("agent:main:matrix:direct:@bob%3Aserver.org");
    expect(await resolve("matrix", "@bob:server.org")).toBe("agent:main:matrix:direct:@bob%3Aserver.org");
    expect(await resolve("matrix", "@BOB:server.org")).toBe("agent:main:matrix:direct:@BOB%3Aserver.org");
    expect(await resolve("slack", "U1")).toBe("agent:main:slack:direct:u1");
    const notes = (await varve.doctor()).findings.flatMap((finding) => finding.notes ?? []).join("\n");
    expect(notes).toContain("@BOB%3Aserver.org and agent:main:matrix:direct:@bob%3Aserver.org differ only in case");
  });

  test("does not take the name of a channel, or of a thread, for the owner or a person", async () => {
    const varve = await (await create("several")).open();
    const audience = async (key: string) => (await varve.sessions.get(key)).audience;
    expect(await audience("agent:main:proxy:direct:0123456789abcdef")).toBe("session:proxy:0123456789abcdef");
    expect(await audience("agent:main:cli:direct:eve")).toBe("session:cli:eve");
    expect(await audience("agent:main:langgraph:direct:t1")).toBe("session:langgraph:t1");
    expect(await audience("cron:nightly")).toBeUndefined();
    const notes = (await varve.doctor()).findings.flatMap((finding) => finding.notes ?? []).join("\n");
    expect(notes).toContain("varve owner claim agent:main:cli:direct:eve");
    await varve.owners.claim("agent:main:cli:direct:eve");
    expect(await audience("agent:main:cli:direct:eve")).toBeUndefined();
    await expect(varve.owners.claim("agent:main:app:direct:carol:thread:5")).rejects.toMatchObject({ code: "REFUSED" });
  });

  test("moves what the owner's scope learned from somebody else's conversation, when the doctor is asked to", async () => {
    const varve = await (await create("several")).open();
    const list = async (scope: string) =>
      (await varve.memory.list({ scopes: [scope], limit: 50 })).memories.map(({ abstract }) => abstract).sort();
    const report = await varve.doctor({ rebuild: true });
    expect(report.findings.flatMap(({ faults }) => faults)).toContain(
      "agent main: 1 in agent:main were learned from user:matrix:@bob%3Aserver.org",
    );
    expect(await list("agent:main")).toContain("The pot is blue.");
    const fixed = await varve.doctor({ fix: true });
    expect(fixed.done.join("\n")).toContain("1 memories moved");
    expect(fixed.findings.flatMap(({ faults }) => faults)).toEqual([]);
    expect(await list("agent:main")).toEqual([
      "ANN: My PIN is 4711-zebra.",
      "BOB: My cat is called Ferdinand.",
      "The office opens at nine.",
    ]);
    expect(await list("user:matrix:@bob:server.org")).toEqual(["Bob's key is under the blue pot.", "The pot is blue."]);
    const bob = await varve.sessions.get("agent:main:matrix:direct:@bob:server.org");
    const principal = await varve.sessions.resolvePrincipal(bob);
    const { hits } = await varve.memory.recall({ query: "What color is the pot?", principal });
    expect(hits.map(({ memory }) => memory.abstract)).toContain("The pot is blue.");
  });

  test("is restored from its dump in the new form", async () => {
    const released = await create("several");
    const home = released.home;
    const empty = await scratchDatabase(kind);
    try {
      await restoreBackup({ home, database: empty.database, config: { search: { embedder: "none" } } }, released.dump);
      const varve = await released.open({ database: empty.database });
      expect(await keys(varve)).toContain("agent:main:matrix:direct:@bob%3Aserver.org");
      expect((await varve.sessions.get("agent:main:cli:direct:eve")).audience).toBe("session:cli:eve");
      await varve.close();
    } finally {
      await empty.drop();
    }
  });
});
