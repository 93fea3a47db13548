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
    const varve = await openVarve({
      home,
      ...(options.database === undefined ? {} : { database: options.database }),
      config: {
        models: { chat: "bench/model", providers: { bench: { baseUrl: url } } },
        turn: { runner: "ai-sdk", debounceMs: 0, maxConcurrent: conversations },
      },
    });
    try {
      await talk({ ...options, turns: 2 }, "warm", (person, text) => answer(varve, `w${person}`, text));
      const through = await talk(options, "through", (person, text) => answer(varve, `p${person}`, text));
      await checkOrder(varve, conversations, turns);
      const access = options.database === undefined ? await measureAccess(options, url) : [];
      return [...figures(conversations * turns, direct, through), ...access];
    } finally {
      await varve.close();
    }
  } finally {
    model.stop();
    rmSync(home, { recursive: true, force: true });
  }
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
async function checkOrder(varve: Varve, conversations: number, turns: number): Promise<void> {
  for (let person = 0; person < conversations; person += 1) {
    const session = await varve.sessions.get(`agent:main:bench:direct:p${person}`);
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
