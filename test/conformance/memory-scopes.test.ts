/** Scopes bound every way of reading; what is purged is gone; a portable backup carries memories along. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type OpenOptions, openVarve, owner, restoreBackup, type Session } from "../../src/index.ts";
import { openToolbox } from "../../src/tools/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const secret = "HERON-7";

onEveryEngine("memory scopes", (get) => {
  const say = async (session: Session, text: string) => {
    await get().varve.context.commitTurn(session, `scope-${text}`, [{ role: "user", content: text }]);
    await get().varve.jobs.drain();
  };
  const foreign = [
    { name: "another agent", agent: "stranger" },
    { name: "a list without it", agent: "owner", principal: { ...owner, scopes: ["project:x", "global"] } },
    { name: "an empty list", agent: "owner", principal: { ...owner, scopes: [] } },
  ];

  test("a walk over every way of reading finds nothing in a foreign scope", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:owner:chat:direct:olga", owner: true });
    await say(session, `Remember that the password is ${secret}.`);
    await say(session, `Remember that the password is ${secret}-NEW.`);
    const own = await varve.memory.list({ agent: "owner", includeHistory: true });
    expect(own.total).toBe(2);
    const scopes = ["agent:owner"];
    const seen = await varve.search.find("password", { agent: "owner", kinds: ["memory"] });
    expect(seen.results).toMatchObject([{ kind: "memory", snippet: expect.stringContaining(`${secret}-NEW`) }]);
    for (const { name, ...as } of foreign) {
      const found: unknown[] = [
        await varve.memory.list(as),
        await varve.memory.list({ ...as, includeHistory: true, scopes }),
        await varve.memory.list({ ...as, asOf: own.memories[1]?.validFrom, scopes }),
        await varve.memory.recall({ ...as, query: "password" }),
        await varve.memory.recall({ ...as, query: `password ${secret}`, includeHistory: true, scopes, limit: 100 }),
        await varve.memory.stats({ ...as, scopes }),
        await varve.memory.reviews({ ...as, scopes }),
      ];
      const { agent } = as;
      const principal = { ...(as.principal ?? owner), agents: [agent] };
      const toolbox = openToolbox(varve, { agent, principal });
      const tool = (tool: string, input: object) => toolbox.find(tool)?.run(input);
      found.push(
        await tool("memory_recall", { query: "password" }),
        await tool("memory_recall", { query: "password", scope: "agent:owner", includeHistory: true }),
        // Messages of one's own agent are one's own; what is asked for here is memories alone.
        (await varve.search.find("password", { ...as, kinds: ["memory"] })).results,
        (await varve.search.find(secret, { ...as, kinds: ["memory"], scopes })).results,
        ...(agent === "stranger" ? [await tool("memory_search", { query: "password", corpus: "memory" })] : []),
        await tool("memory_list", {}),
        await tool("memory_list", { scope: "agent:owner" }),
        await tool("memory_stats", { scope: "agent:owner" }),
      );
      expect(JSON.stringify(found), name).not.toContain(secret);
      for (const { id } of own.memories) {
        for (const opened of [
          () => varve.memory.get(id, as),
          () => varve.memory.history(id, as),
          () => varve.memory.update(id, { text: "mine now" }, as),
          () => varve.memory.forget({ id }, as),
          () => varve.memory.forget({ id }, { ...as, purge: true }),
          () => tool("memory_update", { memoryId: id, text: "mine now" }) ?? Promise.reject(new Error("no tool")),
          () => tool("memory_forget", { memoryId: id }) ?? Promise.reject(new Error("no tool")),
        ]) {
          await expect(opened(), name).rejects.toMatchObject({
            code: "NOT_FOUND",
            message: expect.not.stringContaining(secret),
          });
        }
      }
      await expect(varve.memory.forget({ query: "password", scopes }, as), name).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
      await expect(varve.memory.add({ ...as, text: "x is y", scope: "agent:owner" }), name).rejects.toMatchObject({
        code: "REFUSED",
      });
    }
    const other = await varve.sessions.resolve({ key: "agent:stranger:chat:direct:sam", owner: true });
    const prompt = `What is the password ${secret}?`;
    const view = await varve.context.assemble(other, { budgetTokens: 8_000, prompt });
    expect(JSON.stringify(view)).not.toContain("Remember that the password");
    expect(await varve.memory.list({ agent: "owner", includeHistory: true })).toEqual(own);
    // Internal callers see everything, and what everybody shares is everybody's.
    expect((await varve.memory.list({ principal: { ...owner, scopes: "all" }, scopes })).total).toBe(1);
    await varve.memory.add({ agent: "owner", text: "The office opens at eight.", scope: "global" });
    const shared = await varve.memory.recall({ agent: "stranger", query: "office opens" });
    expect(shared.hits).toHaveLength(1);
  });

  test("what is forgotten stays in history, and what is purged is nowhere", async () => {
    const under = get();
    const { varve } = under;
    const as = { agent: "purger" };
    const session = await varve.sessions.resolve({ key: "agent:purger:chat:direct:pia", owner: true });
    await say(session, "My locker number is 113.");
    await varve.memory.extract(session);
    await say(session, "My locker number is 114.");
    await varve.memory.extract(session);
    const [memory] = (await varve.memory.recall({ ...as, query: "locker number" })).hits.map((hit) => hit.memory);
    const id = memory?.id ?? "";
    await varve.context.assemble(session, { budgetTokens: 8_000, prompt: "What is my locker number?" });
    expect(await varve.memory.shown(session)).toHaveLength(1);

    expect(await varve.memory.forget({ query: "locker number" }, as)).toMatchObject({
      memories: [id],
      purged: false,
    });
    expect((await varve.memory.recall({ ...as, query: "locker number" })).hits).toEqual([]);
    expect((await varve.memory.history(id, as)).at(-1)).toMatchObject({ id, forgottenAt: under.clock.now() });
    await expect(varve.memory.forget({ id }, as)).rejects.toMatchObject({ code: "CONFLICT" });

    const backup = await varve.backup(undefined);
    const purged = await varve.memory.forget({ id }, { ...as, purge: true });
    expect(purged).toMatchObject({ purged: true, backups: [backup.file] });
    expect(purged.memories).toHaveLength(2);
    expect((await varve.memory.stats({ ...as, scopes: ["agent:purger"] })).total).toBe(0);
    expect(await varve.memory.shown(session)).toEqual([]);
    const all = { query: "locker number", includeHistory: true };
    expect((await varve.memory.recall({ ...as, ...all })).hits).toEqual([]);
    await expect(varve.memory.history(id, as)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
  });

  test("the text index is rebuilt, and a session that is deleted leaves its memories without their words", async () => {
    const { varve, clock } = get();
    clock.advance(1_000);
    const as = { agent: "quitter" };
    const session = await varve.sessions.resolve({ key: "agent:quitter:chat:direct:quinn", owner: true });
    await say(session, "Remember that the boat is called Petrel.");
    await varve.doctor({ rebuild: true });
    const [hit] = (await varve.memory.recall({ ...as, query: "boat" })).hits;
    expect(hit?.memory.content).toContain("Petrel");
    await varve.sessions.delete(session);
    const opened = await varve.memory.get(hit?.memory.id ?? "", as);
    expect(opened).toMatchObject({ evidence: [], missing: [expect.stringMatching(/^msg#\d+$/)] });
  });

  test("a portable backup carries memories to another database, where they are found", async () => {
    const { varve, home, clock } = get();
    clock.advance(1_000);
    await varve.memory.add({ agent: "mover", text: "The piano is tuned in May." });
    const { file } = await varve.backup(undefined, { portable: true });
    const there = { home: join(home, "moved"), database: join(home, "moved", "varve.db"), clock };
    await restoreBackup(there, file);
    const moved = await openVarve({ ...there, background: false });
    const as = { agent: "mover" };
    expect((await moved.memory.recall({ ...as, query: "piano" })).hits).toHaveLength(1);
    expect((await moved.memory.add({ ...as, text: "The violin is tuned in June." })).decision).toBe("create");
    await moved.close();
  });

  test("the files of a memory tool are kept in versions, each scope its own", async () => {
    const { varve } = get();
    const as = { agent: "filer" };
    const run = (command: Parameters<typeof varve.memory.file>[0], by = as) => varve.memory.file(command, by);
    expect(await run({ command: "view", path: "/memories" })).toContain("/memories");
    const path = "/memories/notes/tea.md";
    expect(await run({ command: "create", path, file_text: "green\nblack" })).toBe(
      `File created successfully at: ${path}`,
    );
    await expect(run({ command: "create", path, file_text: "x" })).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(run({ command: "create", path: `${path}/below`, file_text: "x" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(await run({ command: "str_replace", path, old_str: "black", new_str: "oolong" })).toContain("2\toolong");
    await run({ command: "insert", path, insert_line: 0, insert_text: "# Tea" });
    expect(await run({ command: "view", path, view_range: [1, 2] })).toContain("     1\t# Tea\n     2\tgreen");
    expect(await run({ command: "view", path: "/memories" })).toMatch(
      /K\t\/memories\/notes\n.*K\t\/memories\/notes\/tea.md/,
    );
    await run({ command: "rename", old_path: "/memories/notes", new_path: "/memories/archive" });
    await expect(run({ command: "view", path })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await run({ command: "delete", path: "/memories/archive" })).toBe("Successfully deleted /memories/archive");
    expect((await varve.memory.fileHistory(path, as)).map((one) => one.content)).toEqual([
      "green\nblack",
      "green\noolong",
      "# Tea\ngreen\noolong",
      null,
    ]);
    expect(await varve.memory.fileHistory(path, { agent: "stranger" })).toEqual([]);
    await expect(run({ command: "view", path: "/memories/../etc" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(run({ command: "delete", path: "/memories" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("the mirror is Markdown that people edit, and their edits are versions", async () => {
    const { varve, home, clock } = get();
    const as = { agent: "mirror", principal: { ...owner, scopes: ["agent:mirror"] } };
    const folder = join(home, "mirror");
    const { current } = await varve.memory.add({ ...as, text: "The stove is <!-- always --> on." });
    await varve.memory.add({ ...as, text: "I prefer tea to coffee." });
    expect(await varve.memory.mirror(folder, as)).toEqual({ files: 1, updated: 0, added: 0 });
    const file = join(folder, `${new Date(clock.now()).toISOString().slice(0, 10)}.md`);
    const written = readFileSync(file, "utf8");
    expect(written).toContain(`- (entities) The stove is ‹!-- always --› on. <!-- ${current.id} -->\n`);
    expect(await varve.memory.mirror(folder, as)).toEqual({ files: 1, updated: 0, added: 0 });
    expect(readFileSync(file, "utf8")).toBe(written);
    writeFileSync(
      file,
      `${written.replace("The stove is ‹!-- always --› on.", "The stove is off.")}- The cellar is dry.\n`,
    );
    expect(await varve.memory.mirror(folder, as)).toEqual({ files: 1, updated: 1, added: 1 });
    const history = await varve.memory.history(current.id, as);
    expect(history.map((one) => one.content)).toEqual(["The stove is <!-- always --> on.", "The stove is off."]);
    expect((await varve.memory.recall({ ...as, query: "cellar" })).hits[0]?.memory.content).toContain("cellar");
    expect(await varve.memory.mirror(folder, as)).toEqual({ files: 1, updated: 0, added: 0 });
    expect(readFileSync(file, "utf8").match(/^- /gm)).toHaveLength(3);
  });

  test("the mirror leaves files of people alone, keeps every sentence, and forgets what is removed", async () => {
    const { varve, home, clock } = get();
    const as = { agent: "mirrored", principal: { ...owner, scopes: ["agent:mirrored"] } };
    const folder = join(home, "mirrored");
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    mkdirSync(folder);
    const diary = join(folder, `${day}.md`);
    writeFileSync(diary, "Dear diary, today it rained.\n- buy milk\n");
    const long = "The boiler is loud. It was serviced in May.\nThe plumber is Ines.";
    const first = await varve.memory.add({ ...as, text: long });
    const second = await varve.memory.add({ ...as, text: "The attic has a round window." });
    await varve.memory.mirror(folder, as);
    expect(readFileSync(diary, "utf8")).toBe("Dear diary, today it rained.\n- buy milk\n");
    const file = join(folder, `${day}-varve.md`);
    expect(readFileSync(file, "utf8")).toContain("  The plumber is Ines.");

    writeFileSync(file, `${readFileSync(file, "utf8").replace("in May", "in June")}\nA thought of mine.\n`);
    expect(await varve.memory.mirror(folder, as)).toMatchObject({ updated: 1, added: 0 });
    const history = await varve.memory.history(first.current.id, as);
    expect(history.at(-1)?.content).toBe(long.replace("in May", "in June"));
    expect(readFileSync(file, "utf8")).toContain("A thought of mine.");

    // Changed here and in the store: both texts are kept.
    const stale = readFileSync(file, "utf8");
    await varve.memory.update(second.current.id, { text: "The attic has two windows." }, as);
    writeFileSync(file, stale.replace("a round window", "a square window"));
    expect(await varve.memory.mirror(folder, as)).toMatchObject({ conflicts: 1 });
    const texts = (await varve.memory.list(as)).memories.map((one) => one.content);
    expect(texts).toEqual(expect.arrayContaining(["The attic has two windows.", "The attic has a square window."]));

    const lines = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, lines.filter((line) => !line.includes("square window")).join("\n"));
    expect(await varve.memory.mirror(folder, as)).toMatchObject({ forgotten: 1 });
    expect((await varve.memory.list(as)).memories.map((one) => one.content)).not.toContain(
      "The attic has a square window.",
    );
  });

  test("a mirror file that is missing or half saved forgets nothing, and an item that is put back returns", async () => {
    const { varve, home, clock } = get();
    const as = { agent: "saving", principal: { ...owner, scopes: ["agent:saving"] } };
    const folder = join(home, "saving");
    await varve.memory.add({ ...as, text: "The gate code is 4711." });
    await varve.memory.add({ ...as, text: "The well is dry." });
    await varve.memory.mirror(folder, as);
    const file = join(folder, `${new Date(clock.now()).toISOString().slice(0, 10)}.md`);
    const whole = readFileSync(file, "utf8");
    rmSync(file);
    expect(await varve.memory.mirror(folder, as)).not.toHaveProperty("forgotten");
    expect(readFileSync(file, "utf8")).toBe(whole);
    writeFileSync(file, "");
    expect(await varve.memory.mirror(folder, as)).not.toHaveProperty("forgotten");
    expect((await varve.memory.list(as)).total).toBe(2);

    writeFileSync(file, whole);
    rmSync(file.replace(".md", "-varve.md"), { force: true });
    await varve.memory.mirror(folder, as);
    const item = whole.split("\n").find((line) => line.includes("The well is dry.")) ?? "";
    writeFileSync(file, whole.replace(`${item}\n`, ""));
    expect(await varve.memory.mirror(folder, as)).toMatchObject({ forgotten: 1 });
    writeFileSync(file, whole);
    expect(await varve.memory.mirror(folder, as)).toMatchObject({ added: 1 });
    expect((await varve.memory.list(as)).memories.map((one) => one.content)).toContain("The well is dry.");

    // Forgotten in the store while the file still lists it: it stays forgotten.
    const [gate] = (await varve.memory.list(as)).memories.filter((one) => one.content.includes("4711"));
    await varve.memory.forget({ id: gate?.id ?? "" }, as);
    await varve.memory.mirror(folder, as);
    expect((await varve.memory.list(as)).memories.map((one) => one.content)).toEqual(["The well is dry."]);
    expect(readFileSync(file, "utf8")).not.toContain("4711");
  });

  test("a followed mirror shows what is stored and takes in what is edited", async () => {
    const { home, clock } = get();
    const folder = join(home, "followed");
    const follower = await get().another({
      config: {
        memory: { mirror: folder, agentScopes: { main: ["custom:followed"] } },
        search: { watchDebounceMs: 50 },
      },
    });
    const errors: unknown[] = [];
    follower.memory.followMirror((error) => errors.push(error));
    await follower.memory.add({ text: "The lamp is green.", scope: "custom:followed" });
    const file = join(folder, `${new Date(clock.now()).toISOString().slice(0, 10)}.md`);
    const waitFor = async (isDone: () => Promise<boolean> | boolean) => {
      while (!(await isDone())) await new Promise((done) => setTimeout(done, 20));
    };
    await waitFor(() => existsSync(file) && readFileSync(file, "utf8").includes("The lamp is green."));
    writeFileSync(file, readFileSync(file, "utf8").replace("green", "yellow"));
    const read = async () => (await follower.memory.list()).memories.map((one) => one.content);
    await waitFor(async () => (await read()).includes("The lamp is yellow."));
    await follower.close();
    expect(errors).toEqual([]);
  });

  test("among several people, what each says of themselves is theirs, and none of it the owner's", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:crowd:chat:group:friends" });
    await varve.context.commitTurn(session, "g1", [
      { role: "user", name: "Uma", content: "I live in Berlin." },
      { role: "user", name: "Vic", content: "I live in Porto." },
    ]);
    await varve.memory.extract(session);
    const { memories } = await varve.memory.list({ agent: "crowd", scopes: ["group:chat:friends"] });
    expect(memories.map((one) => [one.content, one.trust, one.version])).toEqual([
      ["I live in Porto.", "group", 1],
      ["I live in Berlin.", "group", 1],
    ]);
    expect((await varve.memory.list({ agent: "crowd", scopes: ["agent:crowd"] })).memories).toEqual([]);
  });

  test("what the settings say of a scope is kept to", async () => {
    const under = get();
    const config: OpenOptions["config"] = {
      memory: {
        extractionByScope: { "agent:episodes": "episodic", "agent:nothing": "none" },
        agentScopes: { sharer: ["global"], mute: [] },
      },
    };
    const set = await under.another({ config });
    for (const agent of ["episodes", "nothing", "sharer", "mute"]) {
      const session = await set.sessions.resolve({ key: `agent:${agent}:chat:direct:rita`, owner: true });
      const content = `Remember that the ${agent} lamp is red. We decided to paint it for ${agent}.`;
      await set.context.commitTurn(session, agent, [{ role: "user", content }]);
    }
    await set.jobs.drain();
    const kept = async (scope: string) =>
      (await set.memory.list({ principal: { ...owner, scopes: "all" }, scopes: [scope], limit: 100 })).memories
        .filter((one) => ["episodes", "nothing", "sharer", "mute"].includes(one.agent))
        .map((one) => `${one.agent} ${one.category}`)
        .sort();
    expect(await kept("agent:episodes")).toEqual(["episodes events"]);
    expect(await kept("agent:nothing")).toEqual([]);
    expect(await kept("agent:sharer")).toEqual([]);
    expect(await kept("agent:mute")).toEqual([]);
    expect(await kept("global")).toEqual(["sharer entities", "sharer events"]);
  });
});
