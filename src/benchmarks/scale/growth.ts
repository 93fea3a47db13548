import { rmSync } from "node:fs";
import { join } from "node:path";
import { getEntryText, type Varve } from "../../index.ts";
import { conversation, createQueries } from "../conversation.ts";
import { type BenchResult, percentile, readMemory, round, timed } from "../result.ts";
import {
  agentCount,
  appendHistory,
  createMessage,
  embeddedAgent,
  nameAgent,
  nameConversation,
  words,
} from "./agent-history.ts";
import { type BenchTarget, openBench } from "./open-bench.ts";

export interface GrowthOptions extends BenchTarget {
  /** Numbers of messages in the whole database, ascending. */
  sizes: readonly number[];
}

const rounds = 40;
const appends = 200;
const regexRounds = 3;
const rareWords = 10;
const budgetTokens = 8_000;
/** How many agents are written at the same time. */
const writers = 4;
/** Messages of an agent between two reports of progress. */
const sliceMessages = 5_000;

export interface GrowthResult extends BenchResult {
  /**
   * The same percentile of the control, which alternated with the operation: a view of a conversation that does not grow.
   * When other programs slow the machine down, both take longer.
   */
  control?: number;
}

const controlKey = "agent:benchcontrol:fixed";
const controlMessages = 1_000;

/** Fills one database step by step, and measures the same operations at each size. */
export async function benchGrowth(options: GrowthOptions): Promise<GrowthResult[]> {
  const { varve, home, close } = await openBench(options, true);
  try {
    const fixed = await varve.sessions.resolve({ key: controlKey });
    await varve.context.ingest(fixed, [...conversation(controlMessages)]);
    const results: GrowthResult[] = [];
    let [size, textBytes] = [0, 0];
    for (const next of options.sizes) {
      const loaded = await load(varve, size, next, options);
      textBytes += loaded.textBytes;
      size = next;
      options.onProgress(`vectors of ${next}`, 0, 1);
      // Without reports: each of them would count the messages that are left.
      await varve.search.index({ agent: embeddedAgent });
      options.onProgress(`vector index of ${next}`, 0, 1);
      await varve.search.maintainVectors();
      results.push({ name: "load", size, value: Math.round(loaded.messagesPerSecond), unit: "messages/s" });
      results.push(...(await measure(varve, home, size, options)));
      const { databaseBytes } = await varve.status();
      results.push({ name: "size", size, value: round(databaseBytes / textBytes), unit: "× raw text" });
    }
    return addGrowth(results, options.sizes);
  } finally {
    await close();
  }
}

async function load(
  varve: Varve,
  from: number,
  to: number,
  { onProgress }: GrowthOptions,
): Promise<{ messagesPerSecond: number; textBytes: number }> {
  const [first, last] = [from / agentCount, to / agentCount];
  const started = performance.now();
  let [textBytes, done] = [0, from];
  const measureText = (message: ReturnType<typeof createMessage>) =>
    Buffer.byteLength(getEntryText({ type: "message", message }));
  const waiting = Array.from({ length: agentCount }, (_, agentIndex) => agentIndex);
  const write = async (): Promise<void> => {
    for (let agentIndex = waiting.shift(); agentIndex !== undefined; agentIndex = waiting.shift()) {
      for (let at = first; at < last; at += sliceMessages) {
        const end = Math.min(last, at + sliceMessages);
        const written = await appendHistory(varve, agentIndex, { from: at, to: end }, measureText);
        textBytes += written;
        done += end - at;
        onProgress(`messages of ${to}`, done, to);
      }
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  return { messagesPerSecond: (to - from) / ((performance.now() - started) / 1000), textBytes };
}

async function measure(varve: Varve, home: string, size: number, options: GrowthOptions): Promise<GrowthResult[]> {
  const messages = size / agentCount;
  const agentAt = (round: number) => nameAgent(round % agentCount);
  const find = (query: string, agent: string) =>
    varve.search.find(query, { agent, limit: 10, retrievers: ["lexical"], kinds: ["message"] });
  // As many different words at every size, because what was searched a moment ago is cached.
  const rareAt = (round: number) => words.rare((round * 7) % Math.min(rareWords, Math.ceil(messages / 1_000)));
  const queries = createQueries(rounds);
  const steps: [name: string, times: number, run: (round: number) => Promise<unknown>][] = [
    ["append", appends, (round) => append(varve, messages + size + round, round)],
    ["assemble", rounds, (round) => assemble(varve, round)],
    ["search.rare", rounds, (round) => find(rareAt(round), agentAt(round))],
    ["search.common", rounds, (round) => find(words.common, agentAt(round))],
    ["search.most", rounds, (round) => find(words.most, agentAt(round))],
    ["search.hybrid", rounds, (round) => varve.search.find(queries[round] ?? "", { agent: embeddedAgent, limit: 10 })],
    [
      "grep.most",
      rounds,
      (round) =>
        varve.context.grep({
          ...everywhere(agentAt(round)),
          pattern: words.most,
          mode: "full_text",
          sort: "relevance",
        }),
    ],
    [
      "regex",
      regexRounds,
      (round) => varve.context.grep({ ...everywhere(agentAt(round)), pattern: `${words.rare(0)}\\d* nowhere$` }),
    ],
    ["sessions", rounds, (round) => varve.sessions.list({ agent: agentAt(round), limit: 50 })],
  ];
  const fixed = await varve.sessions.get(controlKey);
  const results: GrowthResult[] = [];
  for (const [name, times, run] of steps) {
    options.onProgress(`${name} at ${size}`, 0, times);
    const took: number[] = [];
    const control: number[] = [];
    for (let index = 0; index < times; index += 1) {
      took.push(await timed(() => run(index)));
      control.push(await timed(() => varve.context.assemble(fixed, { budgetTokens })));
    }
    for (const share of [0.5, 0.95]) {
      const [value, other] = [round(percentile(took, share)), round(percentile(control, share))];
      results.push({ name: `${name}.p${100 * share}`, size, value, unit: "ms", control: other });
    }
  }
  return [...results, ...(await measureDump(varve, home, size, options))];
}

const everywhere = (agent: string) => ({ agent, allConversations: true, scope: "messages" as const });

async function append(varve: Varve, number: number, index: number): Promise<void> {
  const agentIndex = index % agentCount;
  const session = await varve.sessions.resolve({ key: nameConversation(nameAgent(agentIndex), 0) });
  await varve.context.ingest(session, [createMessage(agentIndex, number)]);
}

async function assemble(varve: Varve, index: number): Promise<void> {
  const session = await varve.sessions.get(nameConversation(nameAgent(index % agentCount), 0));
  await varve.context.assemble(session, { budgetTokens });
}

async function measureDump(varve: Varve, home: string, size: number, options: GrowthOptions): Promise<BenchResult[]> {
  options.onProgress(`dump of ${size}`, 0, 1);
  const file = join(home, "dump.jsonl.gz");
  let memoryMax = readMemory();
  const before = memoryMax;
  const sampling = setInterval(() => {
    memoryMax = Math.max(memoryMax, readMemory());
  }, 50);
  try {
    const ms = await timed(() => varve.backup(file, { portable: true }));
    return [
      { name: "dump", size, value: round(ms / 1000), unit: "s" },
      { name: "dump.memory", size, value: Math.round((memoryMax - before) / 1e6), unit: "MB above the start" },
    ];
  } finally {
    clearInterval(sampling);
    rmSync(file, { force: true });
  }
}

/**
 * `ratio` is the growth since the first size from 100,000 in this run, or since the smallest, divided by the growth of the
 * control.
 */
function addGrowth(results: GrowthResult[], sizes: readonly number[]): GrowthResult[] {
  const base = sizes.find((size) => size >= 100_000) ?? sizes[0];
  return results.map((result) => {
    const first = results.find((one) => one.name === result.name && one.size === base);
    if (result.size === base || !first || first.value === 0) return result;
    const noise = (result.control ?? 1) / (first.control ?? 1);
    return { ...result, ratio: round(result.value / first.value / noise) };
  });
}
