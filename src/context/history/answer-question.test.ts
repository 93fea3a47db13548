import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Models, openVarve } from "../../index.ts";

const home = mkdtempSync(join(tmpdir(), "varve-ask-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function ask(models: Models) {
  const varve = await openVarve({ home, background: false, models });
  const session = await varve.sessions.resolve({ key: "agent:main:main" });
  await varve.context.ingest(session, [{ id: "m1", role: "user", content: "The vault code is ZX-4711." }]);
  const answer = await varve.context.expandQuery({ session, prompt: "What is the vault code?" });
  await varve.close();
  return answer;
}

describe("a question to the history", () => {
  it("is told to be answered by a model, even when the model has no name", async () => {
    const answer = await ask({ expansion: async () => "It is ZX-4711." });
    expect(answer).toMatchObject({ answer: "It is ZX-4711.", model: "unnamed", notes: [] });
  });

  it("is told to be answered by passages when there is no model, or it fails", async () => {
    expect((await ask({})).model).toBeUndefined();
    const failed = await ask({ expansion: () => Promise.reject(new Error("no connection")) });
    expect(failed.model).toBeUndefined();
    expect(failed.answer).toContain("ZX-4711");
    expect(failed.notes.join()).toContain("no connection");
  });
});
