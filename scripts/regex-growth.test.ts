/** No regular expression of the sources takes more than linear time on a hostile text. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { findSuperlinearGrowth, type Growth } from "./regex-growth.ts";
import { listRegexLiterals, type RegexLiteral } from "./regex-literals.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** After this time without a result, a pattern is taken to be without an end. */
const silenceMs = 120_000;
const minuteMs = 60_000;

/** Tests, and benchmarks of our own conversations, read no text of others. */
function isExposed(file: string): boolean {
  return !/\.test(?:-util)?\.ts$/.test(file) && !/^src[\\/]benchmarks[\\/]/.test(file);
}

function listSources(): RegexLiteral[] {
  const files = globSync("src/**/*.ts", { cwd: root }).filter(isExposed);
  const literals = files.flatMap((file) => listRegexLiterals(file, readFileSync(`${root}/${file}`, "utf8")));
  return [...new Map(literals.map((literal) => [`${literal.source}/${literal.flags}`, literal])).values()];
}

/** Measures the literals in a thread; a literal on which it stops answering is reported, and the rest is continued. */
async function listFaults(literals: readonly RegexLiteral[]): Promise<string[]> {
  const faults: string[] = [];
  for (let from = 0; from < literals.length; ) {
    const { done, faults: found } = await measure(literals.slice(from));
    faults.push(...found);
    from += done;
  }
  return faults;
}

function measure(literals: readonly RegexLiteral[]): Promise<{ done: number; faults: string[] }> {
  const faults: string[] = [];
  let done = 0;
  const describe = ({ file, line, source, flags }: RegexLiteral): string => `${file}:${line} /${source}/${flags}`;
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./regex-growth-worker.ts", import.meta.url), { workerData: literals });
    const stop = (): void => {
      const literal = literals[done];
      if (literal) faults.push(`${describe(literal)} takes more than ${silenceMs} ms`);
      done += 1;
      void worker.terminate();
    };
    let timer = setTimeout(stop, silenceMs);
    worker.on("message", ({ index, growth }: { index: number; growth?: Growth }) => {
      clearTimeout(timer);
      timer = setTimeout(stop, silenceMs);
      done = index + 1;
      const literal = literals[index];
      if (growth && literal) {
        const { input, smallMs, largeMs } = growth;
        faults.push(`${describe(literal)} on ${input}: ${smallMs.toFixed(1)} ms, then ${largeMs.toFixed(1)} ms`);
      }
    });
    worker.on("error", reject);
    worker.on("exit", () => {
      clearTimeout(timer);
      resolve({ done, faults });
    });
  });
}

it("finds the literals of a source and tells slow ones from others", () => {
  const text = "const a = /x+$/g; const b = 4 / 2 / 1; // /no/\nconst c = d(/y/u);";
  expect(listRegexLiterals("a.ts", text).map(({ line, source, flags }) => [line, source, flags])).toEqual([
    [1, "x+$", "g"],
    [2, "y", "u"],
  ]);
  expect(findSuperlinearGrowth("\\s+$", "")).toBeDefined();
  expect(findSuperlinearGrowth("(?<!\\s)\\s+$", "")).toBeUndefined();
});

it(
  "measures every literal of the sources",
  async () => {
    const literals = listSources();
    expect(literals.length).toBeGreaterThan(500);
    expect(await listFaults(literals)).toEqual([]);
  },
  20 * minuteMs,
);
