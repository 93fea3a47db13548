import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVarve } from "../../index.ts";
import { conversation } from "../conversation.ts";
import { type BenchResult, round, timed } from "../result.ts";

const batch = 500;
/** How long the model works afterwards, to measure its rate. */
const modelMs = 20_000;

/** From the end of an import to the first search by meaning, and the rates of both tiers. */
export async function benchMeaning(size: number): Promise<BenchResult[]> {
  const home = mkdtempSync(join(tmpdir(), "varve-bench-meaning-"));
  const varve = await openVarve({ home, background: false });
  try {
    const session = await varve.sessions.resolve({ key: "agent:main:bench" });
    const messages = [...conversation(size)];
    for (let at = 0; at < size; at += batch) await varve.context.ingest(session, messages.slice(at, at + batch));
    const instantMs = await timed(() => varve.search.index({ tier: "instant" }));
    const searchMs = await timed(async () => {
      const { mode, tiers } = await varve.search.find("a small animal that lives in a house");
      if (mode === "lexical" || !tiers.includes("instant")) throw new Error("The search was not by meaning.");
    });
    const began = performance.now();
    const { embedded } = await varve.search.index({ tier: "model", msMax: modelMs });
    const modelSeconds = (performance.now() - began) / 1000;
    return [
      { name: "meaning.first", size, value: round((instantMs + searchMs) / 1000), unit: "s" },
      { name: "instant.rate", size, value: Math.round(size / (instantMs / 1000)), unit: "messages/s" },
      { name: "model.rate", size, value: round(embedded / modelSeconds), unit: "messages/s, one thread" },
    ];
  } finally {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  }
}
