import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { VarveError } from "../../index.ts";
import { type BenchToken, GatewayProcess, send } from "../gateway-process.ts";
import { startModelProcess } from "../model-process.ts";
import { type BenchResult, percentile, round } from "../result.ts";
import type { AttackTask } from "./attack-worker.ts";
import { type AttackCounts, type AttackKind, attackedSessions } from "./attackers.ts";

export interface AttackBenchOptions {
  conversations: number;
  attackers: number;
  /** How long each of the two phases takes. */
  seconds: number;
  latencyMs: number;
  /** The pause between a reply and the next message, in milliseconds. */
  thinkMs: number;
  /** The kinds of hostile requests; all when absent. */
  kinds?: readonly AttackKind[];
  onPhase?(name: string): void;
}

export interface AttackBench {
  results: BenchResult[];
  /** The answers that the hostile requests got, by status. */
  answers: AttackCounts;
  alive: boolean;
}

const searchedBytes = 2_400_000;
const warmUpSeconds = 8;

/**
 * Conversations go on, first alone and then while hostile requests arrive, with the default limits of the gateway. Every
 * conversation and every attacker has a token of its own.
 */
export async function benchAttack(options: AttackBenchOptions): Promise<AttackBench> {
  const { conversations, attackers, latencyMs, onPhase } = options;
  const tokens = (prefix: string, count: number): BenchToken[] =>
    Array.from({ length: count }, (_, index) => ({ name: `${prefix}-${index}`, rights: ["read", "write"] }));
  const [people, hostile] = [tokens("person", conversations), tokens("attacker", attackers)];
  const model = await startModelProcess(latencyMs);
  const gateway = await GatewayProcess.start(
    {
      models: { chat: "bench/model", providers: { bench: { baseUrl: model.url } } },
      turn: { runner: "ai-sdk", debounceMs: 0, maxConcurrent: conversations },
    },
    [...people, ...hostile],
  );
  try {
    onPhase?.("preparing");
    await fillHistory(gateway);
    // Until every conversation is longer than its fresh tail: a turn takes more time the more it shows.
    await talkFor(gateway, people, { ...options, seconds: warmUpSeconds });
    gateway.takeRssMax();
    onPhase?.("without attackers");
    const alone = await talkFor(gateway, people, options);
    const rssAlone = gateway.takeRssMax();
    onPhase?.("under attack");
    const attack = startAttack({ url: gateway.url, tokens: hostile.map(({ name }) => name), kinds: options.kinds });
    const under = await talkFor(gateway, people, options);
    const answers = await attack.stop();
    const rssUnder = gateway.takeRssMax();
    return { results: listFigures(alone, under, rssAlone, rssUnder), answers, alive: gateway.isAlive };
  } finally {
    await gateway.stop();
    model.stop();
  }
}

/** Attacks from a thread of its own until it is stopped, and then returns the answers that were got. */
function startAttack(task: AttackTask): { stop(): Promise<AttackCounts> } {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./attack-worker.${extension}`, import.meta.url), { workerData: task });
  const answered = once(worker, "message") as Promise<[AttackCounts]>;
  return {
    async stop() {
      worker.postMessage("stop");
      const [counts] = await answered;
      await worker.terminate();
      return counts;
    },
  };
}

/** The text that the patterns of the attackers are searched in. */
async function fillHistory({ url, ownerToken }: GatewayProcess): Promise<void> {
  const text = "abcde some words of a long conversation about plans and dates ".repeat(200);
  const count = Math.ceil(searchedBytes / text.length);
  for (const name of ["history", ...attackedSessions]) {
    await send(`${url}/api/sessions`, ownerToken, { key: `agent:main:${name}` });
  }
  for (let sent = 0; sent < count; sent += 50) {
    const messages = Array.from({ length: Math.min(50, count - sent) }, (_, index) => ({
      id: `h${sent + index}`,
      role: "user",
      content: `${sent + index} ${text}`,
    }));
    await send(`${url}/api/sessions/agent:main:history/messages`, ownerToken, { messages });
  }
}

/** Every person talks until the time is over. Returns how long each turn took, in milliseconds. */
async function talkFor(
  { url }: GatewayProcess,
  people: readonly BenchToken[],
  { seconds, thinkMs }: Pick<AttackBenchOptions, "seconds" | "thinkMs">,
): Promise<number[]> {
  const took: number[] = [];
  const until = performance.now() + seconds * 1_000;
  await Promise.all(
    people.map(async ({ name }, person) => {
      await sleep((thinkMs * person) / people.length);
      for (let turn = 0; performance.now() < until; turn += 1) {
        const began = performance.now();
        const answer = (await send(`${url}/api/turns`, name, {
          session: `agent:main:bench:direct:${name}`,
          text: `Message ${turn} of ${name}: what was decided about the plan?`,
        })) as { status?: string };
        if (answer.status !== "replied") {
          throw new VarveError("INTERNAL", `A turn of the bench was not answered: ${JSON.stringify(answer)}`);
        }
        took.push(performance.now() - began);
        await sleep(thinkMs);
      }
    }),
  );
  return took;
}

function listFigures(alone: number[], under: number[], rssAlone: number, rssUnder: number): BenchResult[] {
  const shares = [0.5, 0.95].flatMap((share): BenchResult[] => {
    const name = `p${Math.round(share * 100)}`;
    const [without, attacked] = [percentile(alone, share), percentile(under, share)];
    return [
      { name: `turn.alone.${name}`, size: alone.length, value: round(without), unit: "ms" },
      {
        name: `turn.attacked.${name}`,
        size: under.length,
        value: round(attacked),
        unit: "ms",
        ratio: round(attacked / without),
      },
    ];
  });
  return [
    ...shares,
    { name: "rss.alone", size: alone.length, value: round(rssAlone / 1e6), unit: "MB" },
    { name: "rss.attacked", size: under.length, value: round(rssUnder / 1e6), unit: "MB" },
  ];
}
