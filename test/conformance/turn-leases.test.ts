import { expect, test } from "vitest";
import { lastUserText, modelSettings, startChatServer } from "../support/chat-server.ts";
import { HandClock, onEveryEngine } from "../support/engines.ts";

onEveryEngine("the lease of a turn", (get) => {
  test("that is extended too late does not make its own process start the turn again", async () => {
    const clock = new HandClock();
    const held = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const server = await startChatServer((body) => {
      const text = lastUserText(body);
      if (text !== "a long question") return { text: `re: ${text}` };
      asked.resolve();
      return { text: `re: ${text}`, after: held.promise };
    });
    // No heartbeat comes within the test.
    const leaseMs = 3_600_000;
    const varve = await get().another({
      clock,
      background: true,
      config: { models: modelSettings(server.url), search: { embedder: "none" }, turn: { leaseMs, debounceMs: 0 } },
    });
    const long = varve.turns.send({ session: "agent:main:lease:direct:a", text: "a long question" });
    await asked.promise;
    // A delayed message is found by the look that also finds abandoned turns, and those come first.
    const delayed = { session: "agent:main:lease:direct:b", text: "a delayed question", debounceMs: 1_000 };
    const accepted = await varve.turns.accept(delayed);
    clock.advance(leaseMs + 1);
    for await (const event of varve.turns.follow(accepted)) {
      if (event.type === "ended") expect(event.result.reply).toBe("re: a delayed question");
    }
    held.resolve();
    expect(await long).toMatchObject({ status: "replied", reply: "re: a long question" });
    expect(server.requests.map(lastUserText).sort()).toEqual(["a delayed question", "a long question"]);
    await varve.close();
    await server.close();
  });
});
