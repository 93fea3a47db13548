import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type BenchResult, round } from "./result.ts";

const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
const coldRuns = 5;

const coldCommands = {
  "cli.cold": ["sessions", "show", "agent:main:bench"],
  "cli.cold.search": ["search", "config database schema"],
  "cli.cold.search.text": ["search", "config database schema", "--mode", "text"],
};

/** How long a whole command takes, from its start to its end, the best of a few; the commands take turns. */
export async function benchCold(home: string, size: number): Promise<BenchResult[]> {
  const best = new Map<string, number>();
  for (let run = 0; run < coldRuns; run += 1) {
    for (const [name, command] of Object.entries(coldCommands)) {
      const started = performance.now();
      const child = spawn(process.execPath, [program, ...command, "--home", home, "--json"], { stdio: "ignore" });
      const [code] = await once(child, "exit");
      if (code !== 0) throw new Error(`the command failed with ${code}`);
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, performance.now() - started));
    }
  }
  return [...best].map(([name, ms]) => ({ name, size, value: round(ms / 1000), unit: "s" }));
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
