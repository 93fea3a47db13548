import { afterAll, beforeAll, expect, it } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import { type Sent, type Stage, setStage, sha256 } from "./gateway-stage.ts";

let stage: Stage;
const send = (method: string, path: string, sent: Sent = {}) => stage.send(method, path, { token: "all", ...sent });
const at = `/api/sessions/${encodeURIComponent("agent:main:talk")}`;

const messages: Message[] = Array.from({ length: 200 }, (_, index) => ({
  id: `m${index}`,
  role: index % 2 ? "assistant" : "user",
  content: `Message ${index}: the deployment of server ${index} to /srv/app${index} was decided in Berlin. `.repeat(3),
  time: 1_700_000_000_000 + index * 60_000,
}));

beforeAll(async () => {
  stage = await setStage({
    requestsPerMinute: 100_000,
    tokens: [{ name: "all", token: sha256("all"), rights: ["admin"] }],
  });
  await send("POST", "/api/sessions", { body: { key: "agent:main:talk" } });
});
afterAll(() => stage.end());

it("a turn is committed once, the context compacted, seen, searched and opened again, all over HTTP", async () => {
  const turn = { body: { key: "turn-1", messages } };
  expect((await send("POST", `${at}/turns`, turn)).json).toMatchObject({ status: "committed", appended: 200 });
  expect((await send("POST", `${at}/turns`, turn)).json).toMatchObject({ status: "duplicate" });
  expect((await send("POST", `${at}/context/compact`, { body: { budgetTokens: 3_000 } })).json).toMatchObject({
    status: "done",
  });
  expect(stage.log).toContainEqual(expect.objectContaining({ event: "compaction", trigger: "budget", status: "done" }));
  const context = (await send("GET", `${at}/context`)).json as { summaries: { id: string }[]; summaryTokens: number };
  expect(context.summaries.length).toBeGreaterThan(0);
  expect((await send("GET", `${at}/context/tree`)).json).toMatchObject({
    nodes: context.summaries.map(({ id }) => ({ summary: { id } })),
  });
  const prompt = encodeURIComponent("Where does server 17 go?");
  const view = (await send("GET", `${at}/context/assembled?budget=3000&prompt=${prompt}`)).json as {
    estimatedTokens: number;
    trace: unknown[];
  };
  expect(view.estimatedTokens).toBeLessThanOrEqual(3_000);
  expect(JSON.stringify(view)).toContain("/srv/app17 ");
  expect(view.trace.length).toBeGreaterThan(10);
  const found = (await send("GET", `/api/grep?pattern=${encodeURIComponent("app1[0-3]\\b")}&scope=messages`)).json;
  expect(found).toMatchObject({ matches: [{}, {}, {}, {}] });
  const [first] = context.summaries;
  const opened = await send("GET", `/api/summaries/${first?.id}/expanded?messages=1&tokens=1000000&depth=9`);
  expect(opened.text).toContain("Message 0:");
  expect((await send("GET", `/api/summaries/${first?.id}`)).json).toMatchObject({ summary: { id: first?.id } });
  const asked = await send("POST", "/api/ask", { body: { prompt: "server 42", maxTokens: 400 } });
  expect(asked.json).toMatchObject({ citations: expect.arrayContaining([expect.stringMatching(/^msg#\d+$/)]) });
});

it("bad requests are told what to send instead", async () => {
  for (const [path, hint] of [
    ["/api/grep?pattern=%28a", /RE2/],
    ["/api/grep?pattern=a&limit=500", /limit/],
    ["/api/grep?pattern=a&since=yesterday", /date/],
    ["/api/summaries/sum_0000000000000000", /sum_/],
    ["/api/summaries/nonsense", /sum_/],
    ["/api/files/file_0000000000000000", /id/],
    [`${at}/context/assembled?budget=3`, /256/],
    [`${at}/context/assembled?tokens=3`, /budget/],
  ] as const) {
    const answer = await send("GET", path);
    expect([400, 404], `${path}: ${answer.text}`).toContain(answer.status);
    expect(answer.text, path).toMatch(hint);
  }
});
