import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openVarve } from "../index.ts";
import type { Reranker } from "../models/index.ts";

const home = mkdtempSync(join(tmpdir(), "varve-remote-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Nothing listens on this port. */
const providers = { away: { baseUrl: "http://127.0.0.1:9/v1" } };

it("without its remote embedder a search uses words and instant vectors and reports it, and no other model", async () => {
  const varve = await openVarve({
    home,
    background: false,
    config: { search: { embedder: "away/tiny", embedderDimensions: 3 }, models: { providers } },
  });
  const session = await varve.sessions.resolve({ key: "agent:main:main" });
  await varve.context.ingest(session, [{ id: "m1", role: "user", content: "The vault code is ZX-4711." }]);
  const answer = await varve.search.find("vault code");
  expect(answer).toMatchObject({ mode: "hybrid", tiers: ["instant"], results: [{ id: "m1", tier: "instant" }] });
  expect(answer.degraded.join()).toContain("instant vectors were searched");
  expect(answer.degraded.join()).toContain("away/tiny");
  await expect(varve.search.index()).rejects.toMatchObject({ code: "MODEL_FAILED" });
  expect(await varve.search.coverage()).toMatchObject({ model: "away/tiny/3", vectors: 0 });
  await varve.close();
});

it("an embedder of unknown dimensions is rejected on opening", async () => {
  const config = { search: { embedder: "away/tiny" }, models: { providers } };
  await expect(openVarve({ home, background: false, config })).rejects.toMatchObject({ code: "BAD_CONFIG" });
});

it("a reranker reorders results; a failure is reported, and recall for a prompt does not use it", async () => {
  const asked: string[] = [];
  let isDown = false;
  const reranker: Reranker = {
    name: "test/one",
    async rerank(query, texts) {
      asked.push(query);
      if (isDown) throw new Error("it is down");
      return texts.map((text, index) => ({ index, score: text.includes("second") ? 1 : 0 }));
    },
  };
  const varve = await openVarve({
    home,
    background: false,
    models: { reranker },
    config: { search: { embedder: "none" } },
  });
  const session = await varve.sessions.resolve({ key: "agent:main:reranked" });
  await varve.context.ingest(session, [
    { id: "r1", role: "user", content: "The harbour opens at nine, says the harbour master." },
    { id: "r2", role: "user", content: "A second note names the harbour among many other things of the town." },
  ]);
  const first = async () => {
    const answer = await varve.search.find("harbour", { session, explain: true });
    return { ...answer, id: answer.results[0]?.id };
  };
  expect(await first()).toMatchObject({ id: "r2" });
  isDown = true;
  const down = await first();
  expect(down.id).toBe("r1");
  expect(down.degraded.join()).toContain("the reranker test/one failed (it is down)");
  const before = asked.length;
  const visibility = { agent: "main", conversations: [session.conversation] };
  await varve.search.findMessages({ visibility, prompt: "harbour", limit: 5 });
  await varve.search.find("harbour", { session, skipStages: ["rerank"] });
  expect(asked).toHaveLength(before);
  await varve.close();
});
