/** What a provider's cache can hold of the prompts of turns, on the wire. */
import { afterEach, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { estimateTokens } from "../../src/index.ts";
import { type ChatBody, type ChatServer, modelSettings, startChatServer } from "../support/chat-server.ts";
import { onEveryEngine } from "../support/engines.ts";
import { type MessagesBody, type MessagesServer, startMessagesServer } from "../support/messages-server.ts";

type Block = { type: string; text?: string; cache_control?: { type: string } };

/** All blocks of a request in the order in which a cache reads them. */
function blocksOf({ system, messages }: MessagesBody): Block[] {
  const own = Array.isArray(system) ? (system as Block[]) : [{ type: "text", text: String(system) }];
  return [
    ...own,
    ...messages.flatMap(({ content }) =>
      typeof content === "string" ? [{ type: "text", text: content }] : (content as Block[]),
    ),
  ];
}

/** The blocks up to a marked one, without the marks. */
function prefixes(body: MessagesBody): string[] {
  const blocks = blocksOf(body);
  const plain = blocks.map(({ cache_control: _, ...block }) => JSON.stringify(block));
  return blocks.flatMap((block, index) => (block.cache_control ? [plain.slice(0, index + 1).join("\n")] : []));
}

onEveryEngine("the cache of a provider", (get) => {
  const closing: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
  });

  test("breakpoints end where the next prompt begins in the same way, and never after what is recalled", async () => {
    const server: MessagesServer = await startMessagesServer(() => "Noted.");
    const varve = await get().another({
      clock: systemClock,
      random: systemRandom,
      background: true,
      config: {
        search: { embedder: "none" },
        models: {
          chat: "anthropic/claude-sonnet-4-5",
          providers: { anthropic: { baseUrl: `${server.url}/v1`, apiKey: "sk-ant-test" } },
          windows: { "anthropic/claude-sonnet-4-5": 20_000 },
        },
        turn: { debounceMs: 0 },
      },
    });
    closing.push(varve, server);
    const place = { session: "agent:main:cache:direct:one" };
    const session = await varve.sessions.resolve({ key: place.session });
    await varve.context.ingest(
      session,
      Array.from({ length: 300 }, (_, index) => ({
        id: `c${index}`,
        role: index % 2 ? ("assistant" as const) : ("user" as const),
        content: `Line ${index} on berth ${index % 9}: ${"the ferry takes the north pier today. ".repeat(8)}`,
      })),
    );
    await varve.context.compact(session, { budgetTokens: 9_000 });
    for (let turn = 0; turn < 6; turn += 1) {
      const result = await varve.turns.send({ ...place, text: `Question ${turn}: which pier for berth ${turn}?` });
      expect(result.status).toBe("replied");
      expect(result.context?.cacheable).toBeGreaterThan(0.5);
      expect(result.usage?.cacheableInputTokens).toBeGreaterThan(0);
    }
    // The first turns teach how the provider counts, which changes the budget.
    const bodies = server.requests.slice(2);
    expect(bodies).toHaveLength(4);
    let recalls = 0;
    for (const [index, body] of bodies.entries()) {
      const marks = prefixes(body);
      expect(marks.length).toBeGreaterThanOrEqual(3);
      expect(marks.length).toBeLessThanOrEqual(4);
      const last = marks.at(-1) ?? "";
      expect(last).not.toContain("<recalled ");
      recalls += blocksOf(body).some((block) => block.text?.startsWith("<recalled ")) ? 1 : 0;
      const next = bodies[index + 1];
      if (next === undefined) continue;
      const plain = blocksOf(next)
        .map(({ cache_control: _, ...block }) => JSON.stringify(block))
        .join("\n");
      // What one request writes to the cache, the next one reads.
      for (const mark of marks) expect(plain.startsWith(mark)).toBe(true);
    }
    expect(recalls).toBeGreaterThan(0);
    await varve.close();
    const again = await get().another({});
    const [spent] = (await again.status()).spend.filter(
      (one) => one.purpose === "chat" && one.model.startsWith("anthropic/"),
    );
    expect(spent?.cacheableTokens).toBeGreaterThan(0);
    await again.close();
  });

  test("tools and system prompt of a turn cost at most 2,000 tokens, and OpenAI gets a key of the conversation", async () => {
    const server: ChatServer = await startChatServer(() => ({ text: "Hi." }));
    const settings = modelSettings(server.url);
    const varve = await get().another({
      clock: systemClock,
      random: systemRandom,
      background: true,
      config: { search: { embedder: "none" }, models: settings, turn: { debounceMs: 0 } },
    });
    closing.push(varve, server);
    await varve.turns.send({ session: "agent:main:cache:direct:two", text: "Hi" });
    const { tools, messages } = server.requests[0] as ChatBody;
    expect(tools?.length).toBeGreaterThan(8);
    const system = messages.find((message) => message.role === "system")?.content;
    expect(estimateTokens(JSON.stringify(tools) + String(system))).toBeLessThanOrEqual(2_000);
  });
});
