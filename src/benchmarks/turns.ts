import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openVarve, type Varve, VarveError } from "../index.ts";
import { GatewayProcess, send } from "./gateway-process.ts";
import { startModelProcess } from "./model-process.ts";
import { type BenchResult, percentile, round } from "./result.ts";

export interface TurnsBenchOptions {
  conversations: number;
  turns: number;
  latencyMs: number;
  /** The average time between a reply and the next message, in milliseconds. */
  thinkMs: number;
  /** With a `postgres://` URL, the same turns run on SQLite too, and the overheads are compared. */
  database?: string;
  onProgress?(name: string, done: number, total: number): void;
}

/**
 * The overhead of a turn: the same conversations with the same server, once without Varve and once through it, in one
 * run.
 */
export async function benchTurns(options: TurnsBenchOptions): Promise<BenchResult[]> {
  const { conversations, turns, latencyMs } = options;
  const home = mkdtempSync(join(tmpdir(), "varve-bench-"));
  const model = await startModelProcess(latencyMs);
  try {
    const { url } = model;
    await talk({ ...options, turns: 2 }, "warm", (_, text) => ask(url, text));
    const direct = await talk(options, "direct", (_, text) => ask(url, text));
    const engines = await openEngines(options, home, url);
    try {
      const [first, ...others] = engines;
      const size = conversations * turns;
      const [measured = [], ...compared] = await measureEngines(options, engines);
      if (!first || others.length > 0) return compareEngines(size, direct, engines, [measured, ...compared]);
      const access = options.database === undefined ? await measureAccess(options, url) : [];
      return [...figures(size, direct, measured), ...access];
    } finally {
      for (const { varve } of engines) await varve.close();
    }
  } finally {
    model.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

interface EngineUnderBench {
  name: "sqlite" | "postgres";
  varve: Varve;
}

/** The engine on the given database; with PostgreSQL, one on a SQLite file too, to compare it with. */
async function openEngines(options: TurnsBenchOptions, home: string, url: string): Promise<EngineUnderBench[]> {
  const { database, conversations } = options;
  const open = (folder: string, given?: string) =>
    openVarve({
      home: join(home, folder),
      ...(given === undefined ? {} : { database: given }),
      config: {
        models: { chat: "bench/model", providers: { bench: { baseUrl: url } } },
        turn: { runner: "ai-sdk", debounceMs: 0, maxConcurrent: conversations },
      },
    });
  if (database === undefined || !/^postgres(?:ql)?:/.test(database)) {
    return [{ name: "sqlite", varve: await open("one", database) }];
  }
  const sqlite = await open("sqlite", join(home, "compared.db"));
  try {
    return [
      { name: "sqlite", varve: sqlite },
      { name: "postgres", varve: await open("postgres", database) },
    ];
  } catch (error) {
    await sqlite.close();
    throw error;
  }
}

/** How often engines that are compared take turns, so that the load of the machine is the same for both. */
const rounds = 2;

async function measureEngines(options: TurnsBenchOptions, engines: readonly EngineUnderBench[]): Promise<number[][]> {
  const { conversations, turns } = options;
  const took = engines.map((): number[] => []);
  // A database may hold the people of an earlier run.
  const run = randomUUID().slice(0, 8);
  for (const { name, varve } of engines) {
    await talk({ ...options, turns: 2 }, `warm ${name}`, (person, text) => answer(varve, `${run}-w${person}`, text));
  }
  const share = engines.length === 1 ? 1 : rounds;
  for (let part = 0; part < share; part += 1) {
    // The last part has what does not divide evenly.
    const some = part === share - 1 ? turns - (share - 1) * Math.floor(turns / share) : Math.floor(turns / share);
    for (const [index, { name, varve }] of engines.entries()) {
      const say = (person: number, text: string) => answer(varve, `${run}-p${person}`, text);
      took[index]?.push(...(await talk({ ...options, turns: some }, name, say)));
    }
  }
  for (const { varve } of engines) await checkOrder(varve, run, conversations, turns);
  return took;
}

/** The overhead of each engine, and of PostgreSQL as a multiple of the other's. */
function compareEngines(
  size: number,
  direct: readonly number[],
  engines: readonly EngineUnderBench[],
  took: readonly (readonly number[])[],
): BenchResult[] {
  const shares = [0.5, 0.95];
  const base = shares.map((share) => percentile(direct, share));
  const overheads = took.map((times) => shares.map((share, index) => percentile(times, share) - (base[index] ?? 0)));
  return shares.flatMap((share, index): BenchResult[] => {
    const percent = `p${Math.round(share * 100)}`;
    const least = overheads[0]?.[index] ?? 0;
    return [
      { name: `direct.${percent}`, size, value: round(base[index] ?? 0), unit: "ms" },
      ...engines.map(({ name }, engine): BenchResult => {
        const value = overheads[engine]?.[index] ?? 0;
        const ratio = engine === 0 ? {} : { ratio: round(value / least) };
        return { name: `overhead.${name}.${percent}`, size, value: round(value), unit: "ms", ...ratio };
      }),
    ];
  });
}

/**
 * The cost of access tokens and of the audit log: half of the people talk to a gateway as its owner without audit, the
 * other half, at the same time, to one with audit, with tokens that are bound to an agent.
 */
async function measureAccess(options: TurnsBenchOptions, url: string): Promise<BenchResult[]> {
  const { conversations, turns } = options;
  const settings = (audit: boolean) => ({
    models: { chat: "bench/model", providers: { bench: { baseUrl: url } } },
    turn: { runner: "ai-sdk", debounceMs: 0, maxConcurrent: conversations },
    gateway: { audit },
  });
  const names = Array.from({ length: conversations }, (_, person) => `person-${person}`);
  const plain = await GatewayProcess.start(settings(false), []);
  try {
    const tokens = names.map((name) => ({ name, rights: ["read" as const, "write" as const], agent: "main" }));
    const audited = await GatewayProcess.start(settings(true), tokens);
    const took = { plain: [] as number[], audited: [] as number[] };
    const say = async (person: number, text: string, keep: boolean): Promise<void> => {
      const kind = person % 2 === 0 ? "plain" : "audited";
      const [gateway, token] = kind === "plain" ? [plain, plain.ownerToken] : [audited, names[person] ?? ""];
      const began = performance.now();
      await send(`${gateway.url}/api/turns`, token, { session: `agent:main:bench:direct:p${person}`, text });
      if (keep) took[kind].push(performance.now() - began);
    };
    try {
      await talk({ ...options, turns: 2 }, "warm", (person, text) => say(person, text, false));
      await talk(options, "access", (person, text) => say(person, text, true));
      const size = Math.floor((conversations * turns) / 2);
      return [0.5, 0.95].flatMap((share): BenchResult[] => {
        const name = `p${Math.round(share * 100)}`;
        const [without, withAudit] = [percentile(took.plain, share), percentile(took.audited, share)];
        return [
          { name: `gateway.${name}`, size, value: round(without), unit: "ms" },
          { name: `audited.${name}`, size, value: round(withAudit), unit: "ms", ratio: round(withAudit / without) },
        ];
      });
    } finally {
      await audited.stop();
    }
  } finally {
    await plain.stop();
  }
}

async function ask(url: string, text: string): Promise<void> {
  const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: text }] });
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  await response.text();
}

async function answer(varve: Varve, person: string, text: string): Promise<void> {
  const result = await varve.turns.send({ session: `agent:main:bench:direct:${person}`, text });
  if (result.status === "replied") return;
  throw new VarveError("INTERNAL", `A turn of the bench was not answered: ${result.error?.message ?? result.status}`);
}

/** All people talk concurrently, each at their own pace. */
async function talk(
  { conversations, turns, thinkMs, onProgress }: TurnsBenchOptions,
  name: string,
  say: (person: number, text: string) => Promise<void>,
): Promise<number[]> {
  const took: number[] = [];
  let state = 7;
  const share = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  await Promise.all(
    Array.from({ length: conversations }, async (_, person) => {
      for (let turn = 0; turn < turns; turn += 1) {
        await sleep(2 * thinkMs * share());
        const began = performance.now();
        await say(person, `Message ${turn} of person ${person}: what was decided about the plan?`);
        took.push(performance.now() - began);
        onProgress?.(name, took.length, conversations * turns);
      }
    }),
  );
  return took;
}

/** Whether all were answered, each after its question. */
async function checkOrder(varve: Varve, run: string, conversations: number, turns: number): Promise<void> {
  for (let person = 0; person < conversations; person += 1) {
    const session = await varve.sessions.get(`agent:main:bench:direct:${run}-p${person}`);
    const { entries } = await varve.transcripts.read(session, { limit: 1_000 });
    const roles = entries.flatMap((entry) => (entry.type === "message" ? [entry.message.role] : []));
    const expected = Array.from({ length: turns }, () => ["user", "assistant"]).flat();
    if (roles.join() !== expected.join()) throw new VarveError("INTERNAL", `The order of ${session.key} was not kept.`);
  }
}

function figures(size: number, direct: readonly number[], through: readonly number[]): BenchResult[] {
  return [0.5, 0.95].flatMap((share): BenchResult[] => {
    const name = `p${Math.round(share * 100)}`;
    const [without, withVarve] = [percentile(direct, share), percentile(through, share)];
    return [
      { name: `direct.${name}`, size, value: round(without), unit: "ms" },
      { name: `turn.${name}`, size, value: round(withVarve), unit: "ms", ratio: round(withVarve / without) },
      { name: `overhead.${name}`, size, value: round(withVarve - without), unit: "ms" },
    ];
  });
}
