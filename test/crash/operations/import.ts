import assert from "node:assert/strict";
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Varve } from "../../../src/index.ts";
import { rngOf } from "../../support/rng.ts";
import { messagesIn } from "../log.ts";
import { plain } from "../messages.ts";
import type { Operation, Place, Run, Seen, Verifier } from "../operation.ts";

const linesOfFile = 2_000;
const firstTime = Date.UTC(2026, 0, 1);

interface Line {
  id: string;
  role: string;
  content: string;
  timestamp: number;
}

function fileLines(seed: number, name: string): Line[] {
  const rng = rngOf(seed, name);
  return Array.from({ length: linesOfFile }, (_, index) => {
    const { role, content } = plain(rng);
    return { id: `${name}:${index}`, role, content: String(content).toWellFormed(), timestamp: firstTime + index };
  });
}

function pathOf(place: Place, name: string): string {
  return join(place.folder, `${name}.jsonl`);
}

/** The file is there under its name only when it is whole: here the import is on trial, not its source. */
function ensureFile(place: Place, name: string): string {
  const path = pathOf(place, name);
  if (existsSync(path)) return path;
  const text = fileLines(place.seed, name).map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(`${path}.partial`, text.join(""));
  renameSync(`${path}.partial`, path);
  return path;
}

function filesIn(place: Place): string[] {
  return readdirSync(place.folder).filter((name) => name.endsWith(".jsonl"));
}

/** An import that is killed is simply run again. */
export const importing: Operation = {
  name: "import",
  stepsMax: 2,
  async run({ place, open, step, acknowledge }) {
    const varve = await open();
    // Every file but the last was finished, or no later one would have been begun.
    for (let index = Math.max(0, filesIn(place).length - 1); ; index += 1) {
      const name = `file-${index}`;
      const path = ensureFile(place, name);
      const report = await step({ file: name }, () =>
        varve.import([path], { onProgress: ({ bytesDone }) => acknowledge({ name, bytesDone }) }),
      );
      assert.deepEqual([report.imported + report.duplicates, report.quarantined], [linesOfFile, 0]);
    }
  },
  verifier: (place) => importVerifier(place),
};

function importVerifier(place: Place): Verifier {
  const finished = new Set<string>();
  const known = new Map<string, number>();
  return {
    async check(varve, run) {
      const seen: Seen = { acknowledged: 0, whole: 0, absent: 0 };
      const names = new Set([...run.done, ...run.pending].flatMap((step) => ("file" in step ? [`${step.file}`] : [])));
      for (const name of names) {
        const lines = fileLines(place.seed, name);
        const promised = acknowledgedLines(lines, name, run);
        const found = await importedMessages(varve, name);
        assertPrefix(found, lines, name);
        assert.ok(found.length >= promised, `${name}: ${promised} were acknowledged, ${found.length} are there`);
        seen.acknowledged += Math.max(0, promised - (known.get(name) ?? 0));
        known.set(name, found.length);
        if (run.done.some((step) => step.file === name)) finished.add(name);
        else if (found.length > promised) seen.whole += 1;
        else seen.absent += 1;
      }
      return seen;
    },
    async finish(varve) {
      const files = filesIn(place);
      const all = files.length * linesOfFile;
      const rest = await varve.import([place.folder]);
      assert.deepEqual([rest.imported + rest.duplicates, rest.quarantined], [all, 0]);
      const again = await varve.import([place.folder]);
      assert.deepEqual([again.imported, again.duplicates], [0, all]);
      assert.equal((await varve.status()).messages, all);
      for (const name of files.map((file) => file.replace(/\.jsonl$/, ""))) {
        if (finished.has(name)) continue;
        assert.equal((await importedMessages(varve, name)).length, linesOfFile);
      }
    },
  };
}

/** How many lines the progress of an import has promised. */
function acknowledgedLines(lines: Line[], name: string, run: Run): number {
  if (run.done.some((step) => step.file === name)) return lines.length;
  const bytes = run.done.reduce(
    (most, step) => (step.name === name ? Math.max(most, Number(step.bytesDone)) : most),
    0,
  );
  let end = 0;
  return lines.filter((line) => {
    end += Buffer.byteLength(JSON.stringify(line)) + 1;
    return end <= bytes;
  }).length;
}

async function importedMessages(varve: Varve, name: string): Promise<Line[]> {
  const sessions = await varve.sessions.list({ channel: "jsonl", limit: 100 });
  const session = sessions.sessions.find((one) => one.sessionId === name);
  if (!session) return [];
  const messages = await messagesIn(varve, session);
  return messages.map(({ id = "", role, content, time = 0 }) => ({
    id,
    role,
    content: String(content),
    timestamp: time,
  }));
}

function assertPrefix(found: Line[], lines: Line[], name: string): void {
  for (const [index, line] of found.entries()) assert.deepEqual(line, lines[index], `${name}: line ${index}`);
}
