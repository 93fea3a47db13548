import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openVarve } from "../index.ts";
import { conversation } from "./conversation.ts";
import { type BenchResult, round } from "./result.ts";

export const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));
const coldRuns = 5;
const embeddedMessages = 200;

const coldCommands = {
  "cli.cold": ["sessions", "show", "agent:main:bench"],
  "cli.cold.search": ["search", "config database schema"],
  "cli.cold.search.text": ["search", "config database schema", "--mode", "text"],
};

/** The duration of whole commands on the database of the ingest benchmark, which has no vectors. */
export function benchCold(home: string, size: number): Promise<BenchResult[]> {
  return timeCommands(home, size, coldCommands);
}

/** The same search with the model over messages with vectors. Few messages, so that little is embedded. */
export async function benchColdModel(folder: string): Promise<BenchResult[]> {
  const home = join(folder, "cold");
  const varve = await openVarve({ home, background: false });
  try {
    const session = await varve.sessions.resolve({ key: "agent:main:bench" });
    await varve.context.ingest(session, [...conversation(embeddedMessages)]);
    const { status } = await varve.search.index();
    // Without the model there is nothing to measure here.
    if (status !== "done") return [];
  } finally {
    await varve.close();
  }
  const name = "cli.cold.search.model";
  return timeCommands(home, embeddedMessages, { [name]: [...coldCommands["cli.cold.search"], "--mode", "hybrid"] });
}

/** From start to end, the best of a few runs; the commands alternate. */
async function timeCommands(
  home: string,
  size: number,
  commands: Readonly<Record<string, readonly string[]>>,
): Promise<BenchResult[]> {
  const best = new Map<string, number>();
  for (let run = 0; run < coldRuns; run += 1) {
    for (const [name, command] of Object.entries(commands)) {
      const started = performance.now();
      const child = spawn(process.execPath, [program, ...command, "--home", home, "--json"], { stdio: "ignore" });
      const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
      if (code !== 0) throw new Error(`\`varve ${command.join(" ")}\` ended with ${code ?? signal}`);
      best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, performance.now() - started));
    }
  }
  return [...best].map(([name, ms]) => ({ name, size, value: round(ms / 1000), unit: "s" }));
}

/** The resident memory of an idle gateway without the embedding model (Linux only), and a search that it answers. */
export async function benchIdle(home: string, size: number): Promise<BenchResult[]> {
  const child = spawn(process.execPath, [program, "start", "--port", "0", "--home", home], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, VARVE_SEARCH_EMBEDDER: "none" },
  });
  try {
    await once(child.stdout, "data");
    await sleep(2_000);
    const results = process.platform === "linux" ? [readResident(child.pid, size)] : [];
    const command = { "cli.cold.search.gateway": coldCommands["cli.cold.search"] };
    return [...results, ...(await timeCommands(home, size, command))];
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}

function readResident(pid: number | undefined, size: number): BenchResult {
  const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { name: "rss.idle", size, value: round((Number(kibibytes) * 1024) / 1e6), unit: "MB" };
}
