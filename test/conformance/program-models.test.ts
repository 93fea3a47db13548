/** Summaries that an installed program writes: a script takes the place of Claude Code. */
import { afterAll, expect, test } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import type { Message } from "../../src/domain/index.ts";
import type { Session, Varve } from "../../src/index.ts";
import { type ScriptedProgram, writeScriptedProgram } from "../../src/models/program/scripted-program.test-util.ts";
import { onEveryEngine } from "../support/engines.ts";

const topic = "the roses in the garden need water and the gardener asks when to cut them";
const summary =
  "On that day the user and the gardener talked about the roses in the garden: they need water, and the user asks when to cut them. It was agreed to water the garden in the evening.\nFiles: none\nExpand for details about: the roses, the watering";
const written: ScriptedProgram[] = [];
afterAll(() => {
  for (const one of written) one.remove();
});

function script(body: string): ScriptedProgram {
  const one = writeScriptedProgram(body);
  written.push(one);
  return one;
}

onEveryEngine("installed programs as models", (get) => {
  let count = 0;
  const open = (models: ConfigInput["models"], rest: ConfigInput = {}): Promise<Varve> =>
    get().another({
      config: {
        search: { embedder: "none" },
        timezone: "Europe/Berlin",
        ...rest,
        context: { freshTailCount: 6, leafChunkTokens: 4_000, summaryTimeoutMs: 600_000, ...rest.context },
        models,
      },
    });
  const fill = async (varve: Varve): Promise<Session> => {
    count += 1;
    const session = await varve.sessions.resolve({ key: `agent:main:programs:direct:s${count}` });
    const messages = Array.from(
      { length: 60 },
      (_, index): Message => ({
        id: `m${index}`,
        role: index % 2 ? "assistant" : "user",
        content: `${topic}, `.repeat(3),
      }),
    );
    await varve.context.ingest(session, messages);
    return session;
  };
  const readLevels = async (varve: Varve, session: Session) =>
    (await varve.context.overview(session)).summaries.map(({ level, model }) => ({ level, model }));
  const findModel = async (varve: Varve, name: string) =>
    (await varve.status()).models.find((model) => model.name === name);

  test("Claude Code writes a summary when it is named, and counts as a model", async () => {
    const { program, readCalls } = script(`answer(${JSON.stringify(summary)});`);
    const varve = await open({ summary: "claude-cli/haiku", claudeCli: { program } });
    const session = await fill(varve);
    expect(await varve.context.compact(session)).toMatchObject({ status: "done" });
    expect(await readLevels(varve, session)).toContainEqual({ level: "normal", model: "claude-cli/haiku" });
    expect(readCalls().length).toBeGreaterThan(0);
    expect(readCalls()[0]?.input).toContain("the roses in the garden");
    const { length: calls } = readCalls();
    expect(await findModel(varve, "summary claude-cli/haiku")).toMatchObject({ calls, inputTokens: 110 * calls });
    expect(await findModel(varve, "claude-cli")).toMatchObject({ windowCalls: calls, paused: false });
    expect((await varve.doctor()).healthy).toBe(true);
  });

  test("the program of turns is used when no other is named, and Codex by its own name", async () => {
    const claude = script(`answer(${JSON.stringify(summary)});`);
    const varve = await open({ summary: "claude-cli" }, { turn: { claude: { program: claude.program } } });
    const session = await fill(varve);
    await varve.context.compact(session);
    expect(await readLevels(varve, session)).toContainEqual({ level: "normal", model: "claude-cli" });
    const codex = script(`
      writeLine({ type: "item.completed", item: { id: "item_0", type: "agent_message", text: ${JSON.stringify(summary)} } });
      writeLine({ type: "turn.completed", usage: { input_tokens: 9, output_tokens: 3 } });`);
    const other = await open({ summaryFallbacks: ["codex-cli"], codexCli: { program: codex.program } });
    const another = await fill(other);
    await other.context.compact(another);
    expect(await readLevels(other, another)).toContainEqual({ level: "normal", model: "codex-cli" });
  });

  test("no program is started unless it is named", async () => {
    const { program, readCalls } = script(`answer(${JSON.stringify(summary)});`);
    const varve = await open({ claudeCli: { program }, codexCli: { program } });
    const session = await fill(varve);
    await varve.context.compact(session);
    expect((await readLevels(varve, session)).map(({ level }) => level)).toContain("extractive");
    expect(readCalls()).toEqual([]);
  });

  test("two engines on one database share the cap of a day, and the built-in summariser takes over", async () => {
    get().clock.advance(24 * 3_600_000);
    const { program, readCalls } = script(`answer(${JSON.stringify(summary)});`);
    const models = { summary: "claude-cli", claudeCli: { program, dailyCalls: 2 } };
    const context = { leafChunkTokens: 100_000 };
    const engines = [await open(models, { context }), await open(models, { context })];
    const sessions: Session[] = [];
    for (let round = 0; round < 2; round += 1) for (const one of engines) sessions.push(await fill(one));
    await Promise.all(sessions.map((session, index) => engines[index % 2]?.context.compact(session)));
    expect(readCalls()).toHaveLength(2);
    const [varve] = engines as [Varve, Varve];
    const levels = await Promise.all(sessions.map((session) => readLevels(varve, session)));
    expect(levels.flat().map(({ level }) => level)).toEqual(
      expect.arrayContaining(["normal", "normal", "extractive", "extractive"]),
    );
    const status = await varve.status();
    expect(status.summaryFaults.flatMap(({ faults }) => faults)).toContainEqual(
      expect.stringContaining("the 2 calls a day are used up"),
    );
    const midnight = Date.UTC(2026, 0, 16, 23);
    expect(status.models.find(({ name }) => name === "claude-cli")).toMatchObject({
      paused: true,
      pausedUntil: midnight,
      pausedBecause: "the 2 calls a day are used up",
    });
    // The cap outlives the engines, and ends with the day.
    const restarted = await open(models, { context });
    await restarted.context.compact(await fill(restarted));
    expect(readCalls()).toHaveLength(2);
    get().clock.time = midnight;
    const session = await fill(restarted);
    await restarted.context.compact(session);
    expect(await readLevels(restarted, session)).toContainEqual({ level: "normal", model: "claude-cli" });
  });

  test("a missing program leaves the work to the built-in summariser, and the reason is in the status", async () => {
    const varve = await open({ summary: "claude-cli", claudeCli: { program: "no-such-program-at-all" } });
    const session = await fill(varve);
    expect(await varve.context.compact(session)).toMatchObject({ status: "done" });
    expect((await readLevels(varve, session)).map(({ level }) => level)).toContain("extractive");
    const { summaryFaults } = await varve.status();
    expect(summaryFaults[0]?.faults.join()).toContain("There is no program no-such-program-at-all");
  });

  test("a program that is not logged in is paused after five calls, and writes nothing", async () => {
    get().clock.advance(24 * 3_600_000);
    const { program, readCalls } = script(
      'answer("Not logged in · Please run /login", { is_error: true }); process.exitCode = 1;',
    );
    const varve = await open({ summary: "claude-cli/login", claudeCli: { program } });
    const session = await fill(varve);
    for (let attempt = 0; attempt < 6; attempt += 1) {
      expect(await varve.context.compact(session)).toMatchObject({ status: "stopped", leafPasses: 0 });
    }
    expect(readCalls()).toHaveLength(5);
    expect(await findModel(varve, "summary claude-cli/login")).toMatchObject({ paused: true, authFailures: 5 });
    expect((await varve.context.overview(session)).summaries).toEqual([]);
  });

  test("an abort ends the program", async () => {
    get().clock.advance(24 * 3_600_000);
    const { program, readCalls } = script("setInterval(() => {}, 1000);");
    const varve = await open({ summary: "claude-cli/hanging", claudeCli: { program } });
    const session = await fill(varve);
    const aborted = new AbortController();
    const compaction = varve.context.compact(session, { signal: aborted.signal }).catch((error: unknown) => error);
    while (readCalls().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    aborted.abort();
    await compaction;
    expect((await varve.context.overview(session)).summaries).toEqual([]);
  });
});
