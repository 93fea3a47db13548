/** Gateways that share a database and are killed, one after another, while people talk. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openVarve } from "../../src/index.ts";
import { getText } from "../../src/turn/turn.ts";
import { sha256 } from "../e2e/gateway-stage.ts";
import { type ChatBody, type ChatServer, lastUserText, startChatServer } from "../support/chat-server.ts";
import { Counter } from "../support/counter.ts";
import { databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { HandClock } from "../support/engines.ts";
import { rngOf, seedOfRun } from "../support/rng.ts";
import { assertHealthy } from "./log.ts";

const conversations = 10;
const turns = 8;
const kills = 6;
const token = "the-token-of-this-test";
const child = fileURLToPath(new URL("./gateway-child.ts", import.meta.url));

interface Gateway {
  process: ChildProcess;
  port: number;
}

describe.each(databaseKinds)("gateways that are killed on %s", (kind) => {
  let scratch: ScratchDatabase;
  let server: ChatServer;
  const home = mkdtempSync(join(tmpdir(), "varve-gateways-"));
  const seed = seedOfRun();
  const gateways: Gateway[] = [];
  const all: ChildProcess[] = [];
  /** The requests that the model server has got. */
  const asked = new Counter();
  let isOver = false;
  const start = async (): Promise<Gateway> => {
    const args = [child, home, scratch.database, server.url, sha256(token)];
    const started = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    started.unref();
    all.push(started);
    const [line] = (await once(started.stdout ?? started, "data")) as [Buffer];
    return { process: started, port: Number(String(line)) };
  };
  beforeAll(async () => {
    scratch = await scratchDatabase(kind);
    const reply = (body: ChatBody) => {
      asked.add();
      return { text: `re: ${lastUserText(body)}`, pieces: 6, delayMs: 15 };
    };
    server = await startChatServer(reply, { latencyMs: 30 });
    gateways.push(await start(), await start());
  });
  afterAll(async () => {
    isOver = true;
    for (const one of all) one.kill("SIGKILL");
    await server?.close();
    await scratch?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  test(`answer every accepted message once, in order (seed ${seed})`, async () => {
    const rng = rngOf(seed, "gateways");
    // The clock of the check stands still: no lease of a killed gateway expires because the machine is slow.
    const clock = new HandClock(Date.now());
    let killed = 0;
    let refused = 0;
    // One message at a time per person; a client that gets no answer asks the next gateway, under the same id.
    const talk = async (person: number): Promise<void> => {
      for (let turn = 0; turn < turns; turn += 1) {
        const text = `person ${person} turn ${turn}`;
        const body = JSON.stringify({ id: `${person}-${turn}`, session: `agent:main:talk:direct:p${person}`, text });
        for (let attempt = 0; ; attempt += 1) {
          const gateway = gateways[(person + turn + attempt) % gateways.length];
          try {
            const answer = await fetch(`http://127.0.0.1:${gateway?.port}/api/turns`, {
              method: "POST",
              headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
              body,
            });
            const result = (await answer.json()) as { status?: string; reply?: string };
            expect(result, JSON.stringify(result)).toMatchObject({ status: "replied", reply: `re: ${text}` });
            break;
          } catch (error) {
            if (error instanceof Error && error.name === "AssertionError") throw error;
            refused += 1;
            await sleep(50);
          }
        }
      }
    };
    // Each kill comes while a model is asked; there are more requests than it takes for the last one.
    const killer = (async () => {
      for (let requests = 0; killed < kills; killed += 1) {
        requests += rng.int(6, Math.floor((conversations * turns) / (kills + 1)));
        await asked.until(requests);
        if (isOver) return;
        const index = killed % gateways.length;
        gateways[index]?.process.kill("SIGKILL");
        gateways[index] = await start();
      }
    })();
    await Promise.all([killer, ...Array.from({ length: conversations }, (_, person) => talk(person))]);
    console.log(
      `${kind}: ${conversations * turns} messages, ${killed} kills, ${refused} requests cut off, ${server.requests.length} calls of the model`,
    );

    const varve = await openVarve({ home, database: scratch.database, background: false, clock });
    for (let person = 0; person < conversations; person += 1) {
      const session = await varve.sessions.get(`agent:main:talk:direct:p${person}`);
      const { entries } = await varve.transcripts.read(session, { limit: 1000 });
      const said = entries.flatMap((entry) =>
        entry.type === "message" ? [`${entry.message.role} ${getText(entry.message)}`] : [],
      );
      const expected = Array.from({ length: turns }, (_, turn) => `person ${person} turn ${turn}`);
      expect(said).toEqual(expected.flatMap((text) => [`user ${text}`, `assistant re: ${text}`]));
    }
    await assertHealthy(varve, "after the kills");
    await varve.close();
    expect(killed).toBe(kills);
  });

  test("a gateway that is asked to stop ends what it has accepted, or another one does", async () => {
    const [first] = gateways;
    const talks = Array.from({ length: 4 }, (_, person) => stream(first?.port, `last words ${person}`));
    await Promise.all(talks.map(({ accepted }) => accepted));
    first?.process.kill("SIGTERM");
    expect(await Promise.all(talks.map(({ reply }) => reply))).toEqual(
      [0, 1, 2, 3].map((person) => `re: last words ${person}`),
    );
  });
});

/** A turn as a stream: when it was accepted, and what was said in the end, be it here or by the other gateway. */
function stream(
  port: number | undefined,
  text: string,
): { accepted: Promise<void>; reply: Promise<string | undefined> } {
  const { promise: accepted, resolve, reject } = Promise.withResolvers<void>();
  const follow = async (): Promise<string | undefined> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/turns`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "text/event-stream",
        connection: "close",
      },
      body: JSON.stringify({ session: `agent:main:talk:direct:${text.replaceAll(" ", "-")}`, text }),
    });
    let seen = "";
    for await (const chunk of (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      seen += chunk;
      if (seen.includes("event: accepted")) resolve();
    }
    const [, ended] = /event: ended\ndata: (.*)/.exec(seen) ?? [];
    return ended === undefined ? undefined : (JSON.parse(ended) as { result: { reply: string } }).result.reply;
  };
  const reply = follow();
  reply.catch(reject);
  return { accepted, reply };
}
