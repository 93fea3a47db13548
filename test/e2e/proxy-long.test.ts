/** A conversation that is many times the window of the model. */
import { Agent, request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { Json, Said } from "../support/model-server/dialect.ts";
import { failuresIn, type ProxyStage, proxyCounts, setProxyStage, words } from "./proxy-stage.ts";

let stage: ProxyStage;
afterEach(() => stage.end());

const turns = 2_000;
const limitTokens = 32_000;

/** Asks the history when it is asked for the vault, and answers with what was found there. */
function say(body: Json, n: number): Said {
  const last = JSON.stringify((body.messages as Json[]).at(-1));
  if (last.includes("What opens the vault?")) {
    return { calls: [{ id: `toolu_${n}`, name: "lcm_grep", input: { pattern: "vault opens with [a-z]+" } }] };
  }
  if (last.includes("tool_result")) return { text: `It opens with ${/vault opens with ([a-z]+)/.exec(last)?.[1]}.` };
  return { text: `Answer ${n}: ${words(30, n)}.` };
}

/** One request over a connection that is kept. The history is given as text: writing megabytes again each time is no test. */
function post(url: string, agent: Agent, messages: readonly string[]): Promise<Json> {
  const body = Buffer.from(
    `{"model":"claude-local","max_tokens":1000,"system":"Be brief.","messages":[${messages.join(",")}]}`,
  );
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length, "x-varve-session": "long" };
    const outgoing = request(url, { method: "POST", agent, headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      if (response.statusCode === 200) resolve(JSON.parse(text) as Json);
      else reject(new Error(`${response.statusCode}: ${text}`));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

interface Upstream {
  messages: string[];
  fixed: string;
}

function upstreamOf(body: Json): Upstream {
  return {
    messages: (body.messages as Json[]).map((message) => JSON.stringify(message)),
    fixed: JSON.stringify([body.system, body.tools]),
  };
}

/** Whether one request begins with all that the other held. */
function continues(before: Upstream, after: Upstream): boolean {
  return after.fixed === before.fixed && before.messages.every((message, index) => after.messages[index] === message);
}

describe(`a conversation of ${turns} turns with a model of ${limitTokens} tokens`, () => {
  it("never fails, never exceeds the window, begins the same between compactions, and forgets nothing", async () => {
    stage = await setProxyStage({ server: { limitTokens, say }, proxy: { windowTokens: limitTokens } });
    const { seen } = stage.server;
    const agent = new Agent({ keepAlive: true });
    const messages: string[] = [];
    const ask = async (content: string): Promise<string> => {
      messages.push(JSON.stringify({ role: "user", content }));
      const reply = await post(`${stage.anthropic}/v1/messages`, agent, messages);
      messages.push(JSON.stringify({ role: "assistant", content: reply.content }));
      return (reply.content as Json[]).map(({ text }) => text).join("");
    };
    let before: Upstream | undefined;
    let changes = 0;
    let requests = 0;
    for (let turn = 1; turn <= turns; turn += 1) {
      const fact = turn === 3 ? " By the way, the vault opens with marzipan." : "";
      const question = turn === turns ? "What opens the vault?" : `Question ${turn}: ${words(40, turn)}?${fact}`;
      const answer = await ask(question);
      if (turn === turns) expect(answer).toBe("It opens with marzipan.");
      // What was seen is compared and let go: all of it together would be gigabytes.
      requests += seen.length;
      for (const { body, tokens, status } of seen.splice(0)) {
        expect(status).toBe(200);
        expect(tokens).toBeLessThanOrEqual(limitTokens);
        const after = upstreamOf(body);
        if (before && !continues(before, after)) changes += 1;
        before = after;
      }
    }
    const [session] = await stage.sessions();
    if (!session) throw new Error("nothing was kept");
    const { compactions } = await proxyCounts(stage);
    expect(requests).toBe(turns + 1);
    expect(changes).toBe(compactions);
    // About 100 tokens a turn: the beginning stays for a hundred turns and more.
    expect(changes).toBeLessThan(turns / 80);
    expect(changes).toBeGreaterThan(5);
    const entries: string[] = [];
    for await (const page of stage.varve.transcripts.walk(session)) {
      for (const entry of page) if (entry.type === "message") entries.push(JSON.stringify(entry.message.content));
    }
    agent.destroy();
    expect(entries).toEqual(messages.map((message) => JSON.stringify((JSON.parse(message) as Json).content)));
    expect(await stage.varve.transcripts.branches(session)).toHaveLength(1);
    expect(failuresIn(stage.log)).toEqual([]);
  });
});
