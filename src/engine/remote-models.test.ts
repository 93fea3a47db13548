import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openVarve } from "../engine.ts";

const home = mkdtempSync(join(tmpdir(), "varve-remote-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Nobody listens there. */
const providers = { away: { baseUrl: "http://127.0.0.1:9/v1" } };

it("a remote embedder that is away leaves the words, says so, and no other model steps in", async () => {
  const varve = await openVarve({
    home,
    background: false,
    config: { search: { embedder: "away/tiny", embedderDimensions: 3 }, models: { providers } },
  });
  const session = await varve.sessions.resolve({ key: "agent:main:main" });
  await varve.context.ingest(session, [{ id: "m1", role: "user", content: "The vault code is ZX-4711." }]);
  const answer = await varve.search.find("vault code");
  expect(answer).toMatchObject({ mode: "lexical", results: [{ id: "m1" }] });
  expect(answer.degraded.join()).toContain("only words were searched");
  expect(answer.degraded.join()).toContain("away/tiny");
  await expect(varve.search.index()).rejects.toMatchObject({ code: "MODEL_FAILED" });
  expect(await varve.search.coverage()).toMatchObject({ model: "away/tiny/3", vectors: 0 });
  await varve.close();
});

it("an embedder of unknown size is refused when the memory is opened", async () => {
  const config = { search: { embedder: "away/tiny" }, models: { providers } };
  await expect(openVarve({ home, background: false, config })).rejects.toMatchObject({ code: "BAD_CONFIG" });
});
