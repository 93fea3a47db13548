/** A client's message that is nearly as large as the window. */
import { afterEach, describe, expect, it } from "vitest";
import type { Json } from "../support/model-server/dialect.ts";
import { failuresIn, type ProxyStage, setProxyStage, words } from "./proxy-stage.ts";

let stage: ProxyStage;
afterEach(() => stage.end());

const limitTokens = 12_000;

describe("an oversized message in a small window", () => {
  it("is cut, and does not push out the summary, the messages before it and the request after it", async () => {
    stage = await setProxyStage({
      server: { limitTokens, say: (_body, n) => ({ text: `Answer ${n}: ${words(30, n)}.` }) },
      proxy: { windowTokens: limitTokens },
    });
    const messages: Json[] = [];
    const ask = async (content: string): Promise<Json> => {
      messages.push({ role: "user", content });
      const response = await fetch(`${stage.anthropic}/v1/messages`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-varve-session": "large" },
        body: JSON.stringify({ model: "claude-local", max_tokens: 500, system: "Be brief.", messages }),
      });
      expect(response.status).toBe(200);
      const reply = (await response.json()) as Json;
      messages.push({ role: "assistant", content: reply.content as Json[] });
      const sent = stage.server.seen.at(-1);
      expect(sent?.tokens ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(limitTokens);
      return sent?.body ?? {};
    };
    for (let turn = 1; turn <= 60; turn += 1) await ask(`Question ${turn}: ${words(60, turn)}?`);
    const rows = Array.from({ length: 1_100 }, (_, index) => `crate ${index} holds dried herring`);
    const pasted = JSON.stringify((await ask(`What is wrong here?\n${rows.join("\n")}\nLook at the end.`)).messages);
    expect(pasted).toContain("What is wrong here?");
    const after = JSON.stringify((await ask("And which question did I ask before the list?")).messages);
    for (const text of [pasted, after]) {
      expect(text).toContain("<summary");
      expect(text).toContain("Question 60:");
      expect(text).not.toContain("crate 550 holds");
    }
    expect(after).toContain("What is wrong here?");
    expect(after).toContain("And which question did I ask before the list?");
    expect(failuresIn(stage.log)).toEqual([]);
  });
});
