import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { ConfigInput } from "../config/index.ts";
import { openVarve } from "../index.ts";

const home = mkdtempSync(join(tmpdir(), "varve-ranking-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function open(advanced: ConfigInput["advanced"]) {
  return openVarve({ home, background: false, config: { search: { embedder: "none" }, advanced } });
}

it("advanced.search changes the scores of a search", async () => {
  const scoreRecency = async (search: NonNullable<ConfigInput["advanced"]>["search"]) => {
    const varve = await open({ search });
    const session = await varve.sessions.resolve({ key: "agent:main:main" });
    await varve.context.ingest(session, [{ id: "m1", role: "user", content: "The harbour opens at nine." }]);
    const { results } = await varve.search.find("harbour", { session, explain: true });
    await varve.close();
    const { rerank = 0, recency = 0 } = results[0]?.stages ?? {};
    return recency - rerank;
  };
  expect(await scoreRecency({})).toBeCloseTo(0.1, 3);
  expect(await scoreRecency({ recencyWeight: 0.1 })).toBeCloseTo(0.1, 3);
  expect(await scoreRecency({ recencyWeight: 0.3 })).toBeCloseTo(0.3, 3);
});

it("advanced.memory changes the worth of a memory", async () => {
  const readWorth = async (memory: NonNullable<ConfigInput["advanced"]>["memory"]) => {
    const varve = await open({ memory });
    const { current } = await varve.memory.add({ text: "The harbour opens at nine.", importance: 0.5, force: true });
    const { worth } = await varve.memory.get(current.id);
    await varve.close();
    return worth.composite;
  };
  // 0.4 * 1 + 0.3 * 0 + 0.3 * 0.5 * 0.9
  expect(await readWorth({})).toBeCloseTo(0.535, 3);
  expect(await readWorth({ decay: { weights: { recency: 0 } } })).toBeCloseTo(0.135, 3);
});
