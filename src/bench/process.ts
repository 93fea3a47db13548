import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type BenchResult, round } from "./result.ts";

const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
const coldRuns = 5;

/** How long a whole command takes, from its start to its end, the best of a few. */
export async function benchCold(home: string, size: number): Promise<BenchResult> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < coldRuns; run += 1) {
    const started = performance.now();
    const child = spawn(process.execPath, [program, "sessions", "show", "agent:main:bench", "--home", home, "--json"], {
      stdio: "ignore",
    });
    const [code] = await once(child, "exit");
    if (code !== 0) throw new Error(`the command failed with ${code}`);
    best = Math.min(best, performance.now() - started);
  }
  return { name: "cli.cold", size, value: round(best / 1000), unit: "s" };
}

/** The resident memory of a gateway that has nothing to do, without the embedding model; Linux only. */
export async function benchIdle(home: string, size: number): Promise<BenchResult[]> {
  if (process.platform !== "linux") return [];
  const child = spawn(process.execPath, [program, "start", "--port", "0", "--home", home], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, VARVE_SEARCH_EMBEDDER: "none" },
  });
  try {
    await once(child.stdout, "data");
    await sleep(2_000);
    const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
    return [{ name: "rss.idle", size, value: round((Number(kibibytes) * 1024) / 1e6), unit: "MB" }];
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}
