/** What one access token may use up in a day, and bodies that take long to refuse. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/domain/index.ts";
import { type Stage, setStage, sha256 } from "./gateway-stage.ts";

let stage: Stage;
const token = (name: string, rights: ("read" | "write" | "admin")[]) => ({ name, token: sha256(name), rights });
beforeAll(async () => {
  const now = Date.UTC(2026, 0, 15, 12);
  stage = await setStage(
    {
      requestsPerMinute: 100_000,
      quotas: { bytesPerDay: 2_000, turnsPerDay: 2 },
      tokens: [token("worker", ["read", "write"]), token("other", ["read", "write"]), token("admin", ["admin"])],
    },
    { clock: { ...systemClock, now: () => now } },
  );
  await stage.send("POST", "/api/sessions", { token: "admin", body: { key: "agent:main:q" } });
});
afterAll(() => stage.end());

const append = (name: string, id: string, characters: number) =>
  stage.send("POST", "/api/sessions/agent:main:q/messages", {
    token: name,
    body: { messages: [{ id, role: "user", content: "x".repeat(characters) }] },
  });

test("a token that used up its bytes of the day waits until midnight, and others go on", async () => {
  expect((await append("worker", "1", 1_500)).status).toBe(200);
  const refused = await append("worker", "2", 1_500);
  expect(refused.status).toBe(429);
  expect(refused.headers["retry-after"]).toBe("43200");
  expect(refused.text).toContain("gateway.quotas.bytesPerDay");
  expect((await stage.send("GET", "/api/sessions", { token: "worker" })).status).toBe(200);
  expect((await append("other", "3", 1_500)).status).toBe(200);
  for (const id of ["4", "5", "6"]) expect((await append("admin", id, 1_500)).status).toBe(200);
});

test("so does one that used up its turns", async () => {
  const turn = (name: string, id: string) =>
    stage.send("POST", "/api/turns", { token: name, body: { id, session: "agent:main:q", text: "/help" } });
  const statuses: number[] = [];
  for (const id of ["t1", "t2", "t3"]) statuses.push((await turn("other", id)).status);
  expect(statuses.map((status) => status === 429)).toEqual([false, false, true]);
  expect((await turn("admin", "t4")).status).not.toBe(429);
});

test("a body with very many faults is refused by the first of them", async () => {
  const send = (messages: unknown) =>
    stage.send("POST", "/api/sessions/agent:main:q/messages", { token: "admin", body: { messages } });
  const many = await send(
    Array.from({ length: 10_000 }, () => ({ role: "x", content: [1, 2, 3], time: "x", wire: 5 })),
  );
  expect(many.status).toBe(400);
  const { error } = many.json as { error: { details: { faults: unknown[]; more: number } } };
  expect(error.details.faults.length).toBeLessThanOrEqual(20);
  expect(error.details.more).toBeLessThan(10);
  const sendParts = (length: number) => send([{ role: "user", content: Array.from({ length }, () => ({})) }]);
  const parts = await sendParts(15_000);
  expect(parts.status).toBe(400);
  expect(parts.text).toContain("15000 parts");
  // A list that no route takes is refused while it arrives.
  const endless = await sendParts(200_000);
  expect(endless.status).toBe(413);
  expect(endless.text).toContain("more than 20000 items");
});
