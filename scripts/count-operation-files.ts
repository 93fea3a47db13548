/**
 * Prints which files of `src/` run for one ingest, one search, one turn and one compaction, counted by V8's coverage of
 * the main thread: a file counts when one of its functions was called during the operation.
 * `node scripts/count-operation-files.ts [--list]`
 */
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { list: { type: "boolean" }, root: { type: "string" } } });
const root = values.root ?? join(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(root, "src");
const { openVarve } = (await import(pathToFileURL(join(source, "index.ts")).href)) as typeof import("../src/index.ts");

const home = mkdtempSync(join(tmpdir(), "varve-files-"));
const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");

try {
  // Without background jobs, only the operation itself runs while it is counted.
  const varve = await openVarve({ home, background: false });
  const session = await varve.sessions.resolve({ channel: "test", peer: "files" });
  await varve.context.ingest(session, createMessages(0, 400));
  await varve.search.index();
  // Loaded and warm before it is counted.
  await varve.search.find("When does the ferry leave?", { session });
  await countFiles("ingest", () => varve.context.ingest(session, createMessages(1_000, 1)));
  await varve.search.index();
  await countFiles("search", () => varve.search.find("When does the ferry leave?", { session }));
  await countFiles("compaction", () => varve.context.compact(session, { budgetTokens: 8_000 }));
  await varve.close();

  // A turn runs in the background of its process.
  const running = await openVarve({ home });
  const send = (text: string) => running.turns.send({ channel: "test", from: { id: "files" }, text });
  await send("Which pier is it?");
  await running.jobs.drain();
  await countFiles("turn", () => send("When does the ferry leave?"));
  await running.close();
} finally {
  inspector.disconnect();
  rmSync(home, { recursive: true, force: true });
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

async function countFiles(name: string, operation: () => Promise<unknown>): Promise<void> {
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  // Clears what was counted so far.
  await inspector.post("Profiler.takePreciseCoverage");
  await operation();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  await inspector.post("Profiler.stopPreciseCoverage");
  const files = new Set<string>();
  for (const { url, functions } of result) {
    if (!url.startsWith("file:")) continue;
    const path = relative(source, fileURLToPath(url));
    const isCalled = functions.some(({ functionName, ranges }) => functionName !== "" && (ranges[0]?.count ?? 0) > 0);
    if (!path.startsWith("..") && isCalled) files.add(path);
  }
  console.log(`${name.padEnd(12)} ${files.size} files`);
  if (values.list) for (const file of [...files].sort()) console.log(`  ${file}`);
}
