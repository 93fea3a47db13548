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
  const varve = await openVarve({ home });
  const session = await varve.sessions.resolve({ channel: "test", peer: "files" });
  const say = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      id: `m${from + index}`,
      role: (from + index) % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content:
        `Message ${from + index}: the ferry to Ostrava leaves at ${(from + index) % 24}:15 from pier ${index}. `.repeat(
          20,
        ),
    }));
  await varve.context.ingest(session, say(0, 400));
  await varve.search.index();
  // Everything is loaded and warm before it is counted, so that only the operation itself is seen.
  await varve.search.find("When does the ferry leave?", { session });
  await varve.turns.send({ channel: "test", from: { id: "files" }, text: "Which pier is it?" });

  await varve.jobs.drain();
  await count("ingest", () => varve.context.ingest(session, say(1_000, 1)));
  await count("search", () => varve.search.find("When does the ferry leave?", { session }));
  await count("turn", () =>
    varve.turns.send({ channel: "test", from: { id: "files" }, text: "When does the ferry leave?" }),
  );
  await varve.jobs.drain();
  await count("compaction", () => varve.context.compact(session, { budgetTokens: 8_000 }));
  await varve.close();
} finally {
  inspector.disconnect();
  rmSync(home, { recursive: true, force: true });
}

async function count(name: string, operation: () => Promise<unknown>): Promise<void> {
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
