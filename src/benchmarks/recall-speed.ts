import { join } from "node:path";
import Database from "better-sqlite3";
import { openVarve, type Session, type Varve } from "../index.ts";
import { conversation } from "./conversation.ts";
import { EventLoopWatch } from "./event-loop.ts";
import { type BenchResult, percentile, round, timed } from "./result.ts";

const budgetTokens = 8_000;
const assembles = 200;
const smallSize = 1_000;
/** A rare word, frequent words, and two words that must occur together. */
const queries = ["migration", "deploy server", "water", "mother animal", "config database schema"];
const queryRounds = 20;
/** A pattern with a word that the index can use, and one without. */
const patterns = { regex: "migration \\w+ nowhere$", "regex.scan": "\\d{3}-\\d{4}" };
const sweepDeadlineMs = 600_000;

/** Assembly, search and a full sweep over the conversation of the ingest benchmark. */
export async function benchRecallSpeed(home: string, size: number, textBytes: number): Promise<BenchResult[]> {
  const config = { context: { sweepDeadlineMs } };
  const varve = await openVarve({ home, background: false, config });
  const session = await varve.sessions.get("agent:main:bench");
  const loop = new EventLoopWatch();
  await loop.start();
  try {
    const assembled = await benchAssemble(varve, session, size);
    const found = await benchFullText(varve, session, join(home, "varve.db"), size, loop);
    const matched = await benchRegex(varve, session, size, textBytes);
    const swept = await benchSweep(varve, session, size);
    loop.stop();
    const late = { name: "eventloop.recall.p999", size, value: round(loop.percentile(99.9)), unit: "ms" };
    return [...assembled, ...found, ...matched, ...swept, late];
  } finally {
    loop.stop();
    await varve.close();
  }
}

/** Compared with a conversation of 1,000 messages in the same database: the cost must not depend on the length. */
async function benchAssemble(varve: Varve, session: Session, size: number): Promise<BenchResult[]> {
  const small = await varve.sessions.resolve({ key: "agent:main:bench-small" });
  await varve.context.ingest(small, [...conversation(smallSize)]);
  const times = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < assembles; round += 1) {
    times.small.push(await timed(() => varve.context.assemble(small, { budgetTokens })));
    times.large.push(await timed(() => varve.context.assemble(session, { budgetTokens })));
  }
  const [p95, baseline] = [percentile(times.large, 0.95), percentile(times.small, 0.95)];
  return [
    { name: "assemble.small", size: smallSize, value: round(baseline), unit: "ms p95" },
    { name: "assemble", size, value: round(p95), unit: "ms p95", ratio: round(p95 / baseline) },
  ];
}

/** Compared with the bare query on the same index, with the same words. */
async function benchFullText(
  varve: Varve,
  session: Session,
  file: string,
  size: number,
  loop: EventLoopWatch,
): Promise<BenchResult[]> {
  const db = new Database(file, { readonly: true });
  const bare = db.prepare("select rowid, rank from entry_text where words match ? order by rank limit 50");
  const times = { bare: [] as number[], full: [] as number[] };
  for (let round = 0; round < queryRounds; round += 1) {
    for (const pattern of queries) {
      const words = pattern.split(" ").map((word) => `"${word}"`);
      // The baseline blocks this thread.
      loop.stop();
      times.bare.push(await timed(async () => bare.all(words.join(" AND "))));
      await loop.start();
      const request = { session, pattern, mode: "full_text", scope: "messages", sort: "relevance" } as const;
      times.full.push(await timed(() => varve.context.grep(request)));
    }
  }
  db.close();
  const [p95, baseline] = [percentile(times.full, 0.95), percentile(times.bare, 0.95)];
  return [
    { name: "fulltext.bare", size, value: round(baseline), unit: "ms p95" },
    { name: "fulltext", size, value: round(p95), unit: "ms p95", ratio: round(p95 / baseline) },
  ];
}

async function benchRegex(varve: Varve, session: Session, size: number, textBytes: number): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  for (const [name, pattern] of Object.entries(patterns)) {
    // Neither occurs, so that no limit ends the search early: every message is searched.
    const ms: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      ms.push(await timed(() => varve.context.grep({ session, pattern, scope: "messages" })));
    }
    const best = Math.min(...ms);
    results.push({ name, size, value: Math.round(textBytes / 1e6 / (best / 1000)), unit: "MB/s of text" });
  }
  return results;
}

async function benchSweep(varve: Varve, session: Session, size: number): Promise<BenchResult[]> {
  const started = performance.now();
  const result = await varve.context.compact(session, { keepRecentTokens: 20_000 });
  const seconds = (performance.now() - started) / 1000;
  const passes = result.leafPasses + result.condensedPasses;
  return [{ name: "sweep", size, value: round(seconds), unit: `s for ${passes} summaries by what is built in` }];
}
