/**
 * Counts what runs for one ingest, one search, one turn and one compaction: the files of `src/`, by V8's coverage of the main
 * thread, and the calls to the store. A file counts when one of its functions was called during the operation.
 * `node scripts/measure-operations.ts [--list] [--root FOLDER]`
 */
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { StoreCall } from "../src/store/index.ts";

export const operationNames = ["ingest", "search", "turn", "compaction"] as const;
export type OperationName = (typeof operationNames)[number];

export interface Operation {
  files: string[];
  reads: number;
  writes: number;
  transactions: number;
}

const ownRoot = join(dirname(fileURLToPath(import.meta.url)), "..");

export async function measureOperations(root = ownRoot): Promise<Record<OperationName, Operation>> {
  const source = join(root, "src");
  const { openVarve } = (await import(
    pathToFileURL(join(source, "index.ts")).href
  )) as typeof import("../src/index.ts");
  const home = mkdtempSync(join(tmpdir(), "varve-operations-"));
  const inspector = new Session();
  inspector.connect();
  await inspector.post("Profiler.enable");
  const calls = new Map<StoreCall, number>();
  const tap = { after: (call: StoreCall) => calls.set(call, (calls.get(call) ?? 0) + 1) };

  const measure = async (operation: () => Promise<unknown>): Promise<Operation> => {
    await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    // Clears what was counted so far.
    await inspector.post("Profiler.takePreciseCoverage");
    calls.clear();
    await operation();
    const counted = new Map(calls);
    const { result } = await inspector.post("Profiler.takePreciseCoverage");
    await inspector.post("Profiler.stopPreciseCoverage");
    const files = new Set<string>();
    for (const { url, functions } of result) {
      if (!url.startsWith("file:")) continue;
      const path = relative(source, fileURLToPath(url));
      const isCalled = functions.some(({ functionName, ranges }) => functionName !== "" && (ranges[0]?.count ?? 0) > 0);
      if (!path.startsWith("..") && isCalled) files.add(path);
    }
    const count = (call: StoreCall) => counted.get(call) ?? 0;
    return {
      files: [...files].sort(),
      reads: count("read"),
      writes: count("write") + count("append"),
      transactions: count("commit") + count("append"),
    };
  };

  try {
    // Without background jobs, only the operation itself runs while it is counted.
    const varve = await openVarve({ home, background: false, tap });
    const session = await varve.sessions.resolve({ channel: "test", peer: "files" });
    await varve.context.ingest(session, createMessages(0, 400));
    await varve.search.index();
    // Loaded and warm before it is counted.
    await varve.search.find("When does the ferry leave?", { session });
    const ingest = await measure(() => varve.context.ingest(session, createMessages(1_000, 1)));
    await varve.search.index();
    const search = await measure(() => varve.search.find("When does the ferry leave?", { session }));
    const compaction = await measure(() => varve.context.compact(session, { budgetTokens: 8_000 }));
    await varve.close();

    // A turn runs in the background of its process.
    const running = await openVarve({ home, tap });
    const send = (text: string) => running.turns.send({ channel: "test", from: { id: "files" }, text });
    await send("Which pier is it?");
    await running.jobs.drain();
    const turns: Operation[] = [];
    for (let round = 0; round < turnRounds; round += 1) {
      turns.push(await measure(() => send(`When does the ferry to pier ${round} leave?`)));
      await running.jobs.drain();
    }
    await running.close();
    return { ingest, search, turn: takeLeast(turns), compaction };
  } finally {
    inspector.disconnect();
    rmSync(home, { recursive: true, force: true });
  }
}

/** The turn with the least work shows what a turn needs: background work runs by the clock. */
const turnRounds = 5;

function takeLeast(turns: readonly Operation[]): Operation {
  const least = (pick: (turn: Operation) => number) => Math.min(...turns.map(pick));
  const [files = []] = turns.map((turn) => turn.files).sort((a, b) => a.length - b.length);
  return {
    files,
    reads: least(({ reads }) => reads),
    writes: least(({ writes }) => writes),
    transactions: least(({ transactions }) => transactions),
  };
}

function createMessages(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `m${from + index}`,
    role: (from + index) % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content:
      `Message ${from + index}: the ferry to Ostrava leaves at ${(from + index) % 24}:15 from pier ${index}. `.repeat(
        20,
      ),
  }));
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { list: { type: "boolean" }, root: { type: "string" } } });
  for (const [name, { files, reads, writes, transactions }] of Object.entries(await measureOperations(values.root))) {
    console.log(
      `${name.padEnd(12)} ${files.length} files, ${reads} reads, ${writes} writes, ${transactions} transactions`,
    );
    if (values.list) for (const file of files) console.log(`  ${file}`);
  }
}
