/** Bodies below the size limit that would become very large values. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Stage, setStage, sha256 } from "./gateway-stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({
    requestsPerMinute: 100_000,
    bodyLimitBytes: 64_000_000,
    tokens: [{ name: "all", token: sha256("all"), rights: ["read", "write", "admin"] }],
  });
});
afterAll(() => stage.end());

const send = (body: string) => stage.send("POST", "/api/sessions", { token: "all", body });

test("millions of empty parts and deep nesting are refused before they are parsed, and the gateway goes on", async () => {
  const parts = `{"messages":[{"role":"user","content":[${"{},".repeat(10_000_000)}{}]}]}`;
  const before = process.memoryUsage().heapUsed;
  const refused = await send(parts);
  expect(refused).toMatchObject({ status: 413 });
  expect(JSON.stringify(refused.json)).toContain("too complex");
  // Ten million parsed objects would need more than 400 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(300_000_000);
  expect(await send(`${"[".repeat(50_000)}${"]".repeat(50_000)}`)).toMatchObject({ status: 400 });
  expect(await stage.send("GET", "/api/sessions", { token: "all" })).toMatchObject({ status: 200 });
});
