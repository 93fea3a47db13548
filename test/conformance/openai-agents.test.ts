/** Sessions of the OpenAI Agents SDK: the real package with a scripted model. */
import {
  Agent,
  type Model,
  run,
  type Session as SdkSession,
  setTracingDisabled,
  tool,
  Usage,
} from "@openai/agents-core";
import { expect, test } from "vitest";
import { z } from "zod";
import { createAgentSession } from "../../src/plugins/openai-agents/index.ts";
import { onEveryEngine } from "../support/engines.ts";

type Request = Parameters<Model["getResponse"]>[0];
type Output = Awaited<ReturnType<Model["getResponse"]>>["output"];

setTracingDisabled(true);
const print = (value: unknown) => JSON.stringify(value);
const say = (text: string): Output => [
  { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] },
];
const look = tool({
  name: "look",
  description: "Looks at a part.",
  parameters: z.object({ part: z.number() }),
  execute: async ({ part }) => `Part ${part} has ${"many words in it ".repeat(80)}`,
});

function createModel(answer: (request: Request, number: number) => Output) {
  const requests: Request["input"][] = [];
  const model: Model = {
    async getResponse(request) {
      requests.push(structuredClone(request.input));
      return { usage: new Usage(), output: answer(request, requests.length) };
    },
    // biome-ignore lint/correctness/useYield: runs of this test do not stream.
    async *getStreamedResponse() {
      throw new Error("not streamed");
    },
  };
  return { model, requests };
}

onEveryEngine("the OpenAI Agents SDK", (get) => {
  test("a long conversation keeps to its budget, and every item is stored as it was", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:app:group:agents" });
    const open = () => createAgentSession({ varve, session, budgetTokens: 6_000 }) as unknown as SdkSession;
    const { model, requests } = createModel(({ input }, number) => {
      const last = Array.isArray(input) ? input.at(-1) : undefined;
      if (last && "role" in last && last.role === "user" && print(last).includes("Look at"))
        return [
          {
            type: "function_call",
            callId: `c${number}`,
            name: "look",
            arguments: print({ part: number }),
            status: "completed",
          },
        ];
      return say(
        print(last).includes("code word?") ? (/PELICAN-\d+/.exec(print(input))?.[0] ?? "unknown") : `Reply ${number}.`,
      );
    });
    const agent = new Agent({ name: "reader", model, tools: [look] });
    await run(agent, "The code word is PELICAN-77.", { session: open() });
    for (let turn = 0; turn < 20; turn += 1) {
      await run(agent, `Look at part ${turn}. ${"Consider it well. ".repeat(20)}`, { session: open() });
    }
    const { finalOutput } = await run(agent, "What is the code word?", { session: open() });
    expect(finalOutput).toBe("PELICAN-77");
    const sizes = requests.map((input) => print(input).length / 4);
    expect(Math.max(...sizes)).toBeLessThan(9_000);
    expect(print(requests.at(-1))).toContain("<summary id=");
    const all = await createAgentSession({ varve, session }).getItems(1_000);
    expect(all).toHaveLength(2 + 20 * 4 + 2);
    expect(print(all)).toContain(print({ part: 2 }).slice(1, -1).replaceAll('"', '\\"'));
  });

  test("an item is taken back, and a cleared session begins again while its history stays", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:app:group:agents-2" });
    const own = createAgentSession({ varve, session }) as unknown as SdkSession;
    const items = [
      { type: "message" as const, role: "user" as const, content: "The gondola is called Ferdinand." },
      { type: "compaction" as const, encrypted_content: "opaque" },
      ...say("Noted."),
    ];
    await own.addItems(items as never);
    expect(await own.getItems()).toEqual(items);
    expect(await own.popItem()).toEqual(items[2]);
    expect(await own.getItems()).toEqual(items.slice(0, 2));
    await own.clearSession();
    expect([await own.getItems(), await own.popItem()]).toEqual([[], undefined]);
    const { results } = await varve.search.find("gondola Ferdinand", { limit: 3 });
    expect(results.some(({ snippet }) => snippet.includes("Ferdinand"))).toBe(true);
  });
});
