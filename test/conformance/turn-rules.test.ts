/** The rules of a turn: what is delivered, to whom, under which policy, at which level, and in how small a window. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { estimateTokens, type Session, type TurnEvent, type Varve } from "../../src/index.ts";
import {
  type ChatBody,
  type ChatServer,
  type ChatServerOptions,
  modelSettings,
  type Says,
  startChatServer,
} from "../support/chat-server.ts";
import { onEveryEngine } from "../support/engines.ts";

onEveryEngine("turn rules", (get) => {
  const servers: ChatServer[] = [];
  const engines: Varve[] = [];
  let count = 0;
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    for (const server of servers.splice(0)) await server.close();
  });
  const serve = async (
    script: (body: ChatBody, count: number) => Says | Promise<Says>,
    config: ConfigInput = {},
    options: ChatServerOptions & { models?: ConfigInput["models"] } = {},
  ) => {
    const server = await startChatServer(script, options);
    servers.push(server);
    const varve = await get().another({
      clock: systemClock,
      random: systemRandom,
      background: true,
      config: {
        ...config,
        search: { embedder: "none", ...config.search },
        models: { ...modelSettings(server.url, options.windowTokens), ...options.models },
        turn: { debounceMs: 0, ...config.turn },
      },
    });
    engines.push(varve);
    return { server, varve };
  };
  const peer = () => {
    count += 1;
    return { session: `agent:main:rules:direct:p${count}`, owner: true };
  };
  const lines = (from: number, to: number, words = 20) =>
    Array.from({ length: to - from }, (_, index) => ({
      id: `o${from + index}`,
      role: index % 2 ? ("assistant" as const) : ("user" as const),
      content: `Line ${from + index}: ${"we moved the server to another rack. ".repeat(words)}`,
    }));

  test("the silent token is not delivered, as the first line or as the last, streamed or not", async () => {
    for (const [text, reply, status] of [
      ["NO_REPLY\n\nI saved the notes.", "I saved the notes.", "replied"],
      ["Saved it.\n\nNO_REPLY", "Saved it.", "replied"],
      ["no_reply", "", "silent"],
      ["NO_REPLY\n\nNO_REPLY\n", "", "silent"],
    ] as const) {
      const { varve } = await serve(() => ({ text, pieces: 9 }));
      const events: TurnEvent[] = [];
      const result = await varve.turns.send({ ...peer(), text: "Hi" }, { onEvent: (event) => events.push(event) });
      expect(result).toMatchObject({ status, reply });
      const streamed = events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("");
      expect(streamed).toBe(reply);
    }
  });

  test("a model that still calls a tool at its last step is told to answer, and no empty reply counts as one", async () => {
    const call = { calls: [{ name: "lcm_grep", input: { pattern: "x" } }] };
    const stubborn = await serve(() => call, { turn: { maxSteps: 3 } });
    const failed = await stubborn.varve.turns.send({ ...peer(), text: "Look it up" });
    expect(failed).toMatchObject({ status: "failed", reply: "", error: { code: "MODEL_FAILED" } });
    expect(failed.error?.message).toContain("only called tools");
    const last = stubborn.server.requests.at(-1) as ChatBody;
    expect(last.tools ?? []).toEqual([]);
    expect(JSON.stringify(last.messages.at(-1))).toContain("Answer now");
    const talking = await serve(() => ({ ...call, text: "As far as I know, no." }), { turn: { maxSteps: 2 } });
    const place = peer();
    expect(await talking.varve.turns.send({ ...place, text: "Look it up" })).toMatchObject({
      status: "replied",
      reply: "As far as I know, no.",
    });
    // The next prompt holds no call without a result.
    await talking.varve.turns.send({ ...place, text: "And now?" });
    const sent = talking.server.requests.at(-1)?.messages ?? [];
    const called = sent.flatMap((message) => (message.tool_calls ?? []).map((one) => one.id));
    const answered = new Set(sent.map((message) => message.tool_call_id));
    expect(called.filter((id) => !answered.has(id))).toEqual([]);
  });

  test("a name addresses the agent only as a word of its own", async () => {
    const { varve } = await serve(() => ({ text: "Yes?" }), { turn: { names: ["Ada", "小安"] } });
    let id = 0;
    const say = async (text: string) => {
      id += 1;
      const inbound = { channel: "slack", from: { id: "u1" }, chat: { type: "group" as const, id: "names" }, text };
      return (await varve.turns.send({ ...inbound, id: `n${id}-${get().kind}` })).status;
    };
    expect(await say("I love Canada")).toBe("stored");
    expect(await say("Adalbert, come here")).toBe("stored");
    expect(await say("ada, come here")).toBe("replied");
    expect(await say("Is this Ada's?")).toBe("replied");
    expect(await say("@Ada!")).toBe("replied");
    expect(await say("小安你好")).toBe("replied");
  });

  test("a send policy by channel holds direct chats of the main session, and the replies of commands", async () => {
    const deny = { rules: [{ action: "deny" as const, match: { channel: "telegram" } }] };
    const { varve, server } = await serve(() => ({ text: "Hello." }), {
      sendPolicy: deny,
      turn: { owners: { telegram: ["5"], slack: ["5"] } },
    });
    const from = (channel: string, text: string) => ({
      channel,
      from: { id: "5" },
      chat: { type: "direct" as const, id: "5" },
      text,
    });
    expect(await varve.turns.send(from("telegram", "Hi"))).toMatchObject({
      status: "held",
      reply: "",
      key: "agent:main:main",
    });
    expect(await varve.turns.send(from("telegram", "/status"))).toMatchObject({ status: "held", reply: "" });
    expect(await varve.turns.send(from("telegram", "/new"))).toMatchObject({ status: "held", reply: "" });
    expect(server.requests).toHaveLength(0);
    expect(await varve.turns.send(from("slack", "Hi"))).toMatchObject({ status: "replied", reply: "Hello." });
    expect((await varve.turns.send(from("slack", "/status"))).status).toBe("command");
  });

  test("a heartbeat is a turn that neither keeps its session fresh nor opens another", async () => {
    const script = (body: ChatBody) => ({
      text: JSON.stringify(body.messages.at(-1)).includes("Check") ? "HEARTBEAT_OK" : "Hello.",
    });
    const { varve } = await serve(script, { session: { reset: { mode: "idle", idleMinutes: 1 } } });
    const place = peer();
    await varve.turns.send({ ...place, text: "Hi" });
    const before = await varve.sessions.get(place.session);
    const beat = await varve.turns.send({ ...place, kind: "heartbeat", text: "/check Check your list." });
    expect(beat).toMatchObject({ status: "silent", reply: "", sessionId: before.sessionId });
    const after = await varve.sessions.get(place.session);
    expect(after.lastInteractionAt).toBe(before.lastInteractionAt);
    expect(after.sessionId).toBe(before.sessionId);
    expect(after.messageCount).toBe(before.messageCount + 2);
  });

  test("a scheduled run is a turn in a fresh session of its job, and its outcome is logged", async () => {
    const { varve, server } = await serve((body) => ({ text: `Report of ${body.messages.length} messages` }));
    const job = `nightly${get().kind}`;
    const first = await varve.turns.send({ kind: "cron", job, run: "r1", text: "Write the report." });
    expect(first).toMatchObject({ status: "replied", key: `cron:${job}` });
    const second = await varve.turns.send({ kind: "cron", job, run: "r2", text: "Write the report." });
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(server.requests.map((body) => body.messages.filter((one) => one.role !== "system").length)).toEqual([1, 1]);
    const history = await varve.sessions.history(await varve.sessions.get(`cron:${job}`));
    expect(history.map((one) => one.archived)).toEqual([true, false]);
    await expect(varve.turns.accept({ kind: "cron", text: "Write." })).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  test("the levels of a session take effect: thinking, reasoning and elevated", async () => {
    const { varve, server } = await serve(() => ({ text: "Done." }));
    const place = peer();
    const session = await varve.sessions.resolve({ key: place.session, owner: true });
    await varve.turns.send({ ...place, text: "Plain" });
    const plain = server.requests.at(-1) as ChatBody & { reasoning_effort?: string };
    expect(plain.reasoning_effort).toBeUndefined();
    expect(plain.tools?.map((tool) => tool.function.name)).toContain("memory_store");
    await varve.sessions.update(session, { thinkingLevel: "high", elevatedLevel: "off" });
    await varve.turns.send({ ...place, text: "Think" });
    const thinking = server.requests.at(-1) as ChatBody & { reasoning_effort?: string };
    expect(thinking.reasoning_effort).toBe("high");
    const names = thinking.tools?.map((tool) => tool.function.name) ?? [];
    expect(names).toContain("memory_recall");
    expect(names).not.toContain("memory_store");
    expect(names).not.toContain("memory_forget");
    await varve.sessions.update(session, { thinkingLevel: "enormous" });
    const result = await varve.turns.send({ ...place, text: "Think more" });
    expect(result.notes.join(" ")).toContain("enormous");
  });

  test("the notice of a compaction reaches the person with the next reply, once, and not the model", async () => {
    const { varve, server } = await serve(() => ({ text: "Done." }), { context: { freshTailCount: 4 } });
    const place = peer();
    const session = await varve.sessions.resolve({ key: place.session, owner: true });
    const verbose = await varve.sessions.update(session, { verboseLevel: "on" });
    await varve.context.ingest(verbose, lines(0, 60));
    await varve.context.compact(verbose);
    await varve.sessions.addNotice(verbose, "The build is red.");
    const result = await varve.turns.send({ ...place, text: "What now?" });
    expect(result.notes.join(" ")).toMatch(/was compacted: \d+ → \d+ tokens/);
    const sent = JSON.stringify(server.requests.at(-1)?.messages);
    expect(sent).not.toContain("was compacted");
    expect(sent).toContain("The build is red.");
    expect((await varve.turns.send({ ...place, text: "And now?" })).notes.join(" ")).not.toContain("was compacted");
  });

  test("a prompt that is refused without a number converges on a window far smaller than declared", async () => {
    const real = 9_000;
    const script = (body: ChatBody): Says =>
      JSON.stringify(body).length / 4 > real
        ? { status: 400, body: { error: { message: "input exceeds the maximum number of tokens" } } }
        : { text: "Here I am." };
    const { varve, server } = await serve(script, {}, { models: { windows: { "local/test-model": 1_000_000 } } });
    const place = peer();
    const session = await varve.sessions.resolve({ key: place.session, owner: true });
    await varve.context.ingest(session, lines(0, 400));
    const result = await varve.turns.send({ ...place, text: "Still there?" });
    expect(result.error).toBeUndefined();
    expect(result).toMatchObject({ status: "replied", reply: "Here I am." });
    expect(server.requests.length).toBeLessThanOrEqual(10);
    // The next turn starts with what was accepted.
    const before = server.requests.length;
    await varve.turns.send({ ...place, text: "And now?" });
    expect(server.requests.length).toBe(before + 1);
  });

  test("a runner that takes one prompt keeps the summaries, however many messages follow them", async () => {
    const { home } = get();
    const program = join(home, `echo-${get().kind}.mjs`);
    const seen = join(home, `seen-${get().kind}.txt`);
    writeFileSync(
      program,
      `import { writeFileSync } from "node:fs"; let text = ""; for await (const chunk of process.stdin) text += chunk; writeFileSync(${JSON.stringify(seen)}, text); console.log("Seen.");`,
    );
    const { varve } = await serve(() => ({ text: "" }), {
      context: { freshTailCount: 30 },
      turn: { runner: "command", command: { program: process.execPath, args: [program] } },
    });
    const place = peer();
    const session = await varve.sessions.resolve({ key: place.session, owner: true });
    await varve.context.ingest(session, lines(0, 40));
    await varve.context.compact(session);
    await varve.context.ingest(session, lines(100, 130));
    expect(await varve.turns.send({ ...place, text: "What now?" })).toMatchObject({
      status: "replied",
      reply: "Seen.",
    });
    const prompt = readFileSync(seen, "utf8");
    expect(prompt).toContain("<summary id=");
    expect(prompt).toContain("Line 129");
    expect(prompt).not.toContain("Line 105");
  });

  test("a workspace with a tilde or a relative path is one folder for search, flush and programs", async () => {
    const { home } = get();
    for (const workspace of ["notes-here", `~/.varve-test-${process.pid}-${get().kind}`]) {
      const folder = workspace.startsWith("~") ? join(homedir(), workspace.slice(2)) : join(home, workspace);
      const varve = await get().another({ config: { search: { embedder: "none", workspace } } });
      engines.push(varve);
      expect(varve.settings.config.search.workspace).toBe(folder);
    }
    const workspace = `flushed-${get().kind}`;
    mkdirSync(join(home, workspace), { recursive: true });
    let asked = 0;
    const script = (body: ChatBody): Says => {
      const isFlush = body.tools?.some((tool) => tool.function.name === "memory_append") === true;
      if (!isFlush) return { text: "Fine." };
      asked += 1;
      return asked === 1
        ? { calls: [{ name: "memory_append", input: { text: "The rack is number 9." } }] }
        : { text: "NO_REPLY" };
    };
    const config: ConfigInput = { search: { workspace }, turn: { flush: { softThresholdTokens: 20_000 } } };
    const { varve } = await serve(script, config, { models: { windows: { "local/test-model": 32_000 } } });
    const place = peer();
    const session: Session = await varve.sessions.resolve({ key: place.session, owner: true });
    await varve.context.ingest(session, lines(0, 60));
    await varve.turns.send({ ...place, text: "What now?" });
    expect(asked).toBeGreaterThan(0);
    const notes = join(home, workspace, "memory");
    expect(existsSync(notes)).toBe(true);
    expect(
      readdirSync(notes)
        .map((file) => readFileSync(join(notes, file), "utf8"))
        .join(""),
    ).toContain("number 9");
  });

  test("the names and headings of a group are counted: the prompt stays inside the window", async () => {
    const { varve, server } = await serve(
      () => ({ text: "Hello." }),
      { turn: { groupHistoryLimit: 500, flush: { enabled: false } } },
      { windowTokens: 16_000 },
    );
    const place = { channel: "slack", chat: { type: "group" as const, id: `crowd-${get().kind}` } };
    const name = "Maximiliane Theodora von und zu Hohenlohe-Schillingsfürst-Waldenburg";
    await varve.turns.send({ ...place, from: { id: "u1", name }, text: "Good morning", mentioned: true });
    const session = await varve.sessions.get(`agent:main:slack:group:crowd-${get().kind}`);
    await varve.context.ingest(
      session,
      Array.from({ length: 480 }, (_, index) => ({
        id: `crowd${index}`,
        role: "user" as const,
        name,
        content: `Yes, number ${index}, that is so for all of us.`,
        meta: { group: "overheard" },
      })),
    );
    const result = await varve.turns.send({
      ...place,
      from: { id: "u1", name },
      text: "What do you think?",
      mentioned: true,
    });
    expect(result.error).toBeUndefined();
    expect(result.status).toBe("replied");
    expect(server.requests).toHaveLength(2);
    const { messages, tools } = server.requests[1] as ChatBody;
    const texts = messages.map((message) =>
      typeof message.content === "string" ? message.content : JSON.stringify(message.content),
    );
    const tokens = texts.reduce((sum, text) => sum + estimateTokens(text) + 4, estimateTokens(JSON.stringify(tools)));
    // A quarter of the window is for the answer.
    expect(tokens).toBeLessThanOrEqual(12_500);
    expect(result.context?.tokens).toBeLessThanOrEqual(16_000);
  });
});
