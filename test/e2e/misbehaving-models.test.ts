/** Compaction with model servers of every kind, over the wire: it ends, nothing is lost, and the status says what happened. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import { openVarve, type Session, type Status, type Varve } from "../../src/index.ts";

type Act = (response: ServerResponse) => void;

const topic = "the roses in the garden need water and the gardener asks when to cut them";
const good = `On that day the user and the gardener talked about the roses in the garden: they need water, and the user asks when to cut them. It was agreed to water the garden in the evening.\nFiles: none\nExpand for details about: the roses, the watering`;

const event = (value: unknown) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const chunk = (content: string, finish: string | null = null) =>
  event({
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  });
const stream = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" });
const says = (text: string): Act => {
  return (response) => stream(response).end(`${chunk(text)}${chunk("", "stop")}${event("[DONE]")}`);
};
const status = (code: number, body: string, headers: Record<string, string> = {}): Act => {
  return (response) => response.writeHead(code, { "content-type": "application/json", ...headers }).end(body);
};

interface Case {
  act: Act;
  /** What the status has to say. */
  says: (status: Status) => void;
  /** Whether the sweep wrote what is built in instead. */
  level?: string;
  timeoutMs?: number;
}

const lastError = (wanted: RegExp) => (found: Status) =>
  expect(found.models.map((model) => model.lastError ?? "").join("\n")).toMatch(wanted);
const fault = (wanted: RegExp) => (found: Status) => {
  expect(found.summaryFaults.flatMap((one) => one.faults).join("\n")).toMatch(wanted);
};

const cases: Record<string, Case> = {
  "answers as it should": {
    act: says(good),
    level: "normal",
    says: (found) => expect(found.summaryLevels).toEqual({ normal: expect.any(Number) }),
  },
  "says nothing": { act: says(""), level: "extractive", says: lastError(/empty/) },
  "sends garbage": {
    act: (response) => stream(response).end("<html>\u0000</html>"),
    level: "extractive",
    says: lastError(/./),
  },
  "repeats itself": { act: says("rose ".repeat(400)), level: "extractive", says: fault(/repeats|tokens/) },
  "never stops": {
    act: (response) => {
      stream(response);
      const timer = setInterval(() => response.write(chunk("and more of the same about roses ".repeat(50))), 1);
      response.on("close", () => clearInterval(timer));
    },
    level: "extractive",
    says: fault(/tokens/),
  },
  "answers in another language": {
    act: says(
      `这是一个关于花园里的玫瑰的总结，园丁说玫瑰需要浇水，用户问什么时候修剪。我们决定每天晚上浇水，然后在周末修剪玫瑰。\nFiles: none\nExpand for details about: 玫瑰`,
    ),
    level: "extractive",
    says: fault(/is in/),
  },
  "gives instructions instead of a summary": {
    act: says("Please provide the conversation about the roses in the garden, and tell me when to cut them."),
    level: "extractive",
    says: fault(/instruction/),
  },
  "has an error": { act: status(500, "oops"), level: "extractive", says: lastError(/500/) },
  "is overloaded and says when to come back": {
    act: status(429, '{"error":{"message":"slow down"}}', { "retry-after": "0" }),
    level: "extractive",
    says: lastError(/slow down/),
  },
  "cuts its stream": {
    act: (response) => {
      stream(response).write(chunk("On that day "));
      setImmediate(() => response.destroy());
    },
    level: "extractive",
    says: lastError(/./),
  },
  "refuses the key": { act: status(401, '{"error":{"message":"bad key"}}'), says: lastError(/bad key/) },
  "never answers": { act: () => undefined, timeoutMs: 300, says: lastError(/300|answer|time/i) },
};

let server: Server;
let act: Act = says(good);
let baseUrl = "";
const homes: string[] = [];
const opened: Varve[] = [];

beforeAll(async () => {
  server = createServer((incoming, response) => incoming.resume().on("end", () => act(response)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterEach(async () => {
  for (const varve of opened.splice(0)) await varve.close();
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

async function start(timeoutMs = 600_000): Promise<{ varve: Varve; session: Session }> {
  const home = mkdtempSync(join(tmpdir(), "varve-models-"));
  homes.push(home);
  const varve = await openVarve({
    home,
    background: false,
    config: {
      models: { summary: "lab/m", providers: { lab: { kind: "openai-compatible", baseUrl } } },
      context: { freshTailCount: 6, leafChunkTokens: 4_000, summaryTimeoutMs: timeoutMs },
    },
  });
  opened.push(varve);
  const session = await varve.sessions.resolve({ key: "agent:main:lab:direct:one" });
  const messages: Message[] = Array.from({ length: 60 }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 ? "assistant" : "user",
    content: `${topic}, `.repeat(3),
  }));
  await varve.context.ingest(session, messages);
  return { varve, session };
}

describe("a model server that", () => {
  it.each(Object.entries(cases))(
    "%s",
    async (_, one) => {
      act = one.act;
      const { varve, session } = await start(one.timeoutMs);
      const result = await varve.context.compact(session);
      const { summaries } = await varve.context.overview(session);
      if (one.level === undefined) {
        // About the model and not about the text: nothing is written in its place.
        expect(result).toMatchObject({ status: "stopped", leafPasses: 0, failure: expect.stringMatching(/^MODEL_/) });
        expect(summaries).toEqual([]);
      } else {
        expect(result.status).toBe("done");
        expect(summaries.map((summary) => summary.level)).toContain(one.level);
      }
      const found = await varve.status();
      one.says(found);
      expect((await varve.doctor()).healthy).toBe(true);
      const page = await varve.transcripts.read(session, { limit: 1000 });
      expect(page.entries.filter((entry) => entry.type === "message")).toHaveLength(60);
      // A window that would overflow is another matter: it has to fit whatever the model does.
      await varve.context.compact(session, { budgetTokens: 1_500 });
      const view = await varve.context.assemble(session, { budgetTokens: 1_500 });
      expect(view.estimatedTokens).toBeLessThanOrEqual(1_500);
      expect((await varve.context.overview(session)).summaries.length).toBeGreaterThan(0);
      expect((await varve.doctor()).healthy).toBe(true);
    },
    60_000,
  );

  it("refuses the key five times is left alone, and the job waits and goes on when it is let in", async () => {
    act = status(401, '{"error":{"message":"bad key"}}');
    const { varve, session } = await start();
    for (let attempt = 0; attempt < 6; attempt += 1) await varve.context.compact(session);
    const { models } = await varve.status();
    expect(models.find((model) => model.name === "summary lab/m")).toMatchObject({ paused: true, authFailures: 5 });
    await varve.context.afterTurn(session, { windowTokens: 2_000 });
    await varve.jobs.drain();
    expect((await varve.status()).failedJobs[0]).toMatchObject({ kind: "compact turn", key: session.key });
    expect((await varve.context.overview(session)).summaries).toEqual([]);
  });
});
