/** A long conversation with Varve in the real OpenClaw, with kills and a store that fails. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import Database from "better-sqlite3";
import { openVarve } from "../../src/index.ts";
import { type ChatBody, type ChatServer, startChatServer, textOf } from "./chat-server.ts";
import { type OpenClaw, startOpenClaw } from "./openclaw.ts";
import { compareRecords, type RecordComparison, readHostMessages } from "./openclaw-records.ts";
import { answerFromPrompt, askFact, stateFact } from "./reading-model.ts";

export interface DrillOptions {
  program: string;
  /** Turns of the conversation, those that are killed not counted. */
  turns: number;
  /** How often OpenClaw is killed in the middle of a turn. */
  kills: number;
  /** Whether the store fails for a while, and a sub-agent is started. */
  isWhole: boolean;
  /** Whether the folders stay, to be looked at. */
  keep?: boolean;
  say(line: string): void;
}

export interface DrillReport {
  turns: number;
  failed: string[];
  degraded: number;
  kills: number;
  /** Requests that the model server refused as too long. */
  refused: number;
  /** Requests that were refused while the model had a smaller window than OpenClaw knew. */
  refusedAsTooLong: number;
  /** The longest prompt, in tokens of the model server. */
  longest: number;
  answer: string;
  /** The messages of the first prompt after `/new`, without the system prompt. */
  afterReset: string[];
  answerAfterReset: string;
  degradedByStore: number;
  /** The key of the session that started the sub-agent. */
  subagentParent?: string;
  compaction: number;
  records: RecordComparison;
  faults: string[];
  /** What `varve doctor` says about OpenClaw while it runs. */
  doctor: string[];
  /** Whether a removal restored the configuration to the last byte. */
  isRestored: boolean;
}

const key = "agent:main:drill";
const windowTokens = 32_000;
const varveProgram = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
const run = promisify(execFile);

export async function runDrill({ program, turns, kills, isWhole, keep, say }: DrillOptions): Promise<DrillReport> {
  const failed: string[] = [];
  const held = createHold();
  const limits = { windowTokens };
  const model = await startChatServer((body) => (isHeld(body) ? held.take() : answerFromPrompt(body)), limits);
  const openclaw = await startWithVarve(program, model);
  const varveHome = join(openclaw.home, "varve");
  const send = async (text: string, name = key): Promise<string> => {
    try {
      return await openclaw.send("main", name, text);
    } catch (error) {
      failed.push(`${text.slice(0, 60)}: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`);
      return "";
    }
  };
  try {
    const killAt = Array.from({ length: kills }, (_, index) => Math.floor(((index + 1) * turns) / (kills + 1)));
    for (let turn = 1; turn < turns; turn += 1) {
      if (killAt.includes(turn)) {
        say(`turn ${turn}: killing OpenClaw in the middle of it`);
        await killInTurn(openclaw, held, turn);
      }
      await send(createRequest(turn));
      if (turn % 10 === 0) say(`turn ${turn}: ${model.requests.length} requests`);
    }
    const answer = await send(askFact("harbour"));
    say(`turn ${turns}: ${answer}`);
    // A compaction after the last turn may have made the next prompt shorter; the turn after it is longer again.
    let refusedAsTooLong = 0;
    for (let attempt = 0; attempt < 3 && refusedAsTooLong === 0; attempt += 1) {
      const before = model.requests.length;
      const narrowTokens = Math.max(...model.requests.slice(-1).map(measure)) - 1_000;
      limits.windowTokens = narrowTokens;
      await send("The model has a smaller window now.");
      limits.windowTokens = windowTokens;
      refusedAsTooLong = model.requests.slice(before).filter((body) => measure(body) > narrowTokens).length;
    }
    say(`a smaller window: ${refusedAsTooLong} requests refused`);
    const degraded = countDegraded(openclaw);
    const degradedByStore = isWhole ? await failStore(openclaw, varveHome, send, say) : 0;
    if (isWhole) await startSubagent(model, send, say);
    const beforeReset = model.requests.length;
    await openclaw.call("sessions.reset", { key, reason: "new" });
    await send("Good evening.");
    const afterReset = listPrompt(model.requests[beforeReset]);
    const answerAfterReset = await send(askFact("harbour"));
    say(`after /new: ${answerAfterReset}`);
    const doctor = await runDoctor(openclaw, varveHome);
    await openclaw.stop();
    const facts = await readStored(openclaw, varveHome);
    await runVarve(openclaw, ["setup", "openclaw", "--remove", "--yes", "--home", varveHome]);
    const isRestored = readFileSync(join(openclaw.home, "openclaw.json"), "utf8") === openclaw.settings;
    return {
      ...{ turns, failed, degraded, kills, answer, afterReset, answerAfterReset, degradedByStore, ...facts },
      ...{ refusedAsTooLong, doctor, isRestored },
      refused: countRefused(model),
      longest: Math.max(...model.requests.map(measure)),
    };
  } finally {
    await openclaw.stop();
    if (keep) say(`the folders stay in ${openclaw.home}`);
    else openclaw.remove();
    await model.close();
  }
}

/** Installs the plugin as a person would, and starts OpenClaw. */
function startWithVarve(program: string, model: ChatServer): Promise<OpenClaw> {
  return startOpenClaw(program, model.url, {
    windowTokens,
    async prepare({ home, env }) {
      const varveHome = join(home, "varve");
      await run(process.execPath, [varveProgram, "setup", "openclaw", "--yes", "--home", varveHome], { env });
      writeFileSync(join(varveHome, "config.yaml"), "store:\n  busyTimeoutMs: 300\nsearch:\n  embedder: none\n");
    },
  });
}

async function runVarve(openclaw: OpenClaw, args: string[]): Promise<string> {
  return (await run(process.execPath, [varveProgram, ...args], { env: openclaw.env })).stdout;
}

async function runDoctor(openclaw: OpenClaw, home: string): Promise<string[]> {
  const printed = await runVarve(openclaw, ["doctor", "--home", home]).catch(
    (error: { stdout: string }) => error.stdout,
  );
  const lines = printed.split("\n");
  return lines.slice(lines.findIndex((line) => line.includes("OpenClaw"))).filter((line) => line !== "");
}

/** Every turn says something, and most of them bring a kilobyte or more of tool output. */
function createRequest(turn: number): string {
  if (turn === 2) return stateFact("harbour", "K-17");
  if (turn % 3 === 1) return `Run: seq ${turn}000 ${turn}900`;
  if (turn % 3 === 2)
    return `${stateFact(`warehouse ${turn}`, `W-${turn}`)} Keep it in mind, with its number ${turn * 37}.`;
  return `This is message ${turn} of our conversation about the harvest on the ${turn} fields in the north.`;
}

/** Sends a turn that the model never answers, and kills OpenClaw when the request has arrived. */
async function killInTurn(openclaw: OpenClaw, held: Hold, turn: number): Promise<void> {
  const arrived = held.arm();
  const sent = openclaw.send("main", key, `Hold on, this is the request before turn ${turn}.`).catch(() => undefined);
  await arrived;
  await openclaw.kill();
  await sent;
  await openclaw.start();
}

/** Another process holds the write lock of the database: turns go on, and are stored afterwards. */
async function failStore(
  openclaw: OpenClaw,
  varveHome: string,
  send: (text: string, name: string) => Promise<string>,
  say: (line: string) => void,
): Promise<number> {
  // A session of its own: OpenClaw's own engine, which takes over meanwhile, cannot shorten a long one.
  const name = "agent:main:store";
  await send("The store works.", name);
  const before = countDegraded(openclaw);
  const db = new Database(join(varveHome, "varve.db"));
  db.exec("begin immediate");
  try {
    await send(stateFact("mill", "M-4"), name);
    await send("This is said while nothing can be stored.", name);
  } finally {
    db.exec("rollback");
    db.close();
  }
  await send("The store works again.", name);
  const degraded = countDegraded(openclaw) - before;
  say(`store failing for two turns: ${degraded} turns degraded`);
  return degraded;
}

/** Starts a sub-agent, and waits until its result was brought to its parent. */
async function startSubagent(
  model: ChatServer,
  send: (text: string) => Promise<string>,
  say: (line: string) => void,
): Promise<void> {
  await send("Delegate: Say hello as a helper.");
  const isAnnounced = () => model.requests.some((body) => JSON.stringify(body.messages).includes("task completed"));
  // The announcement is a turn of OpenClaw's own, which nobody waits for.
  for (let waited = 0; !isAnnounced() && waited < 600; waited += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  if (!isAnnounced()) throw new Error("The result of the sub-agent did not reach its parent.");
  await send("Thank the helper.");
  say("a sub-agent was started and has answered");
}

async function readStored(openclaw: OpenClaw, home: string) {
  const varve = await openVarve({ home, background: false });
  try {
    const file = join(openclaw.home, "agents/main/agent/openclaw-agent.sqlite");
    const records = await compareRecords(varve, file);
    const sessions = await Promise.all([...readHostMessages(file).keys()].map((id) => varve.sessions.get(id, "main")));
    const parent = sessions.find((session) => session.key.includes(":subagent:"))?.parentKey;
    const { compactionCount } = await varve.sessions.get(key);
    const { findings } = await varve.doctor();
    return {
      records,
      compaction: compactionCount,
      faults: findings.flatMap((finding) => finding.faults),
      ...(parent === undefined ? {} : { subagentParent: parent }),
    };
  } finally {
    await varve.close();
  }
}

function countDegraded({ output }: OpenClaw): number {
  return output.match(/degraded to "legacy"/g)?.length ?? 0;
}

function measure(body: ChatBody): number {
  return Math.ceil(JSON.stringify([body.messages, body.tools ?? []]).length / 4);
}

function countRefused({ requests }: ChatServer): number {
  return requests.filter((body) => measure(body) > windowTokens).length;
}

/** The texts of a prompt, without the system prompt and what OpenClaw adds. */
function listPrompt(body: ChatBody | undefined): string[] {
  return (body?.messages ?? [])
    .filter((message) => message.role !== "system")
    .map(textOf)
    .filter((text) => !text.startsWith("<<<BEGIN_OPENCLAW"));
}

interface Hold {
  /** Holds the next matching request; resolves when it has arrived. */
  arm(): Promise<void>;
  take(): { hang: true };
}

function createHold(): Hold {
  let arrive: () => void = () => undefined;
  return {
    arm: () =>
      new Promise((resolve) => {
        arrive = resolve;
      }),
    take() {
      arrive();
      return { hang: true };
    },
  };
}

/** Whether the newest request of the person is one that is never answered. */
function isHeld(body: ChatBody): boolean {
  const texts = body.messages.filter((message) => message.role === "user").map(textOf);
  return /^(?:\[[^\]]*\] )?Hold on, /.test(texts.findLast((text) => !text.startsWith("<")) ?? "");
}
