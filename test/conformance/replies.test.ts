import { afterEach, expect, test } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { type Clock, getParts, systemClock, systemRandom } from "../../src/domain/index.ts";
import type { Accepted, TurnEvent, TurnResult, Varve } from "../../src/index.ts";
import {
  type ChatBody,
  type ChatServer,
  type ChatServerOptions,
  lastUserText,
  modelSettings,
  type Says,
  startChatServer,
  textOf,
} from "../support/chat-server.ts";
import { Counter } from "../support/counter.ts";
import { HandClock, onEveryEngine } from "../support/engines.ts";

onEveryEngine(
  "replies",
  (get) => {
    const servers: ChatServer[] = [];
    const engines: Varve[] = [];
    let count = 0;
    afterEach(async () => {
      for (const engine of engines.splice(0)) await engine.close();
      for (const server of servers.splice(0)) await server.close();
    });
    const serve = async (
      script: (body: ChatBody, count: number) => Says | Promise<Says>,
      options: ChatServerOptions & {
        turn?: ConfigInput["turn"];
        models?: ConfigInput["models"];
        config?: ConfigInput;
        clock?: Clock;
      } = {},
    ) => {
      const server = await startChatServer(script, options);
      servers.push(server);
      const open = async (clock = options.clock ?? systemClock) => {
        const varve = await get().another({
          clock,
          random: systemRandom,
          background: true,
          config: {
            search: { embedder: "none" },
            ...options.config,
            models: { ...modelSettings(server.url, options.windowTokens), ...options.models },
            turn: { debounceMs: 0, ...options.turn },
          },
        });
        engines.push(varve);
        return varve;
      };
      return { server, varve: await open(), open };
    };
    const peer = () => {
      count += 1;
      return { session: `agent:main:test:direct:p${count}`, owner: true };
    };
    const resultOf = async (varve: Varve, accepted: Accepted): Promise<TurnResult> => {
      for await (const event of varve.turns.follow(accepted)) if (event.type === "ended") return event.result;
      throw new Error("the turn has no end");
    };
    const said = async (varve: Varve, key: string) => {
      const { entries } = await varve.transcripts.read(await varve.sessions.get(key), { limit: 200 });
      return entries.flatMap((entry) =>
        entry.type === "message"
          ? getParts(entry.message).flatMap((part) =>
              part.type === "text" ? [`${entry.message.role}: ${part.text}`] : [],
            )
          : [],
      );
    };

    test("a message is answered by the model, in pieces as they come, and both are in the transcript", async () => {
      const { varve, server } = await serve((body) => ({ text: `You said: ${lastUserText(body)}` }));
      const events: TurnEvent[] = [];
      const place = peer();
      const result = await varve.turns.send(
        { ...place, text: "Hello there" },
        { onEvent: (event) => events.push(event) },
      );
      expect(result).toMatchObject({
        status: "replied",
        reply: "You said: Hello there",
        model: "local/test-model",
        runner: "ai-sdk",
      });
      expect(result.usage?.inputTokens).toBeGreaterThan(0);
      expect(events.filter((event) => event.type === "text").length).toBeGreaterThan(1);
      expect(await said(varve, place.session)).toEqual(["user: Hello there", "assistant: You said: Hello there"]);
      const second = await varve.turns.send({ ...place, text: "And again" });
      expect(second.reply).toBe("You said: And again");
      expect(server.requests[1]?.messages.map((message) => message.role)).toEqual([
        "system",
        "user",
        "assistant",
        "user",
      ]);
      const [model] = (await varve.status()).models.filter((one) => one.name.startsWith("chat "));
      expect(model).toMatchObject({ name: "chat local/test-model", failures: 0 });
      expect((await varve.status()).spend).toContainEqual(
        expect.objectContaining({ purpose: "chat", model: "local/test-model", calls: 2 }),
      );
    });

    test("a message that is sent twice under one id is answered once", async () => {
      const { varve, server } = await serve(() => ({ text: "Once." }));
      const inbound = {
        channel: "telegram",
        from: { id: `u${count}` },
        chat: { type: "direct" as const, id: "c" },
        text: "Hi",
        id: "m-1",
      };
      const both = await Promise.all([varve.turns.send(inbound), varve.turns.send(inbound)]);
      expect(both.map((one) => one.reply)).toEqual(["Once.", "Once."]);
      expect((await varve.turns.send(inbound)).turn).toBe(both[0]?.turn);
      expect(server.requests).toHaveLength(1);
    });

    test("messages of one sender that follow each other closely are one turn, those of two are two", async () => {
      // The pause between two messages is over when the test moves the clock, not before.
      const debounceMs = 60_000;
      const clock = new HandClock(Date.now());
      const { varve, server } = await serve((body) => ({ text: `ok ${lastUserText(body)}` }), {
        turn: { debounceMs },
        clock,
      });
      const group = { channel: "chat", chat: { type: "group" as const, id: `g${++count}` } };
      const from = (id: string) => ({ ...group, from: { id, name: id } });
      const accepted = [];
      for (const text of ["one", "two", "three"]) accepted.push(await varve.turns.accept({ ...from("ann"), text }));
      accepted.push(await varve.turns.accept({ ...from("bob"), text: "four" }));
      expect(server.requests).toHaveLength(0);
      clock.advance(debounceMs);
      varve.turns.start();
      const results = [];
      for (const one of accepted) results.push(await resultOf(varve, one));
      expect(new Set(results.slice(0, 3).map((one) => one.turn)).size).toBe(1);
      expect(results[3]?.turn).not.toBe(results[0]?.turn);
      expect(server.requests).toHaveLength(2);
      const [first] = server.requests;
      expect(first?.messages.filter((one) => one.role === "user").map(textOf)).toEqual([
        "ann: one",
        "ann: two",
        "ann: three",
      ]);
    });

    test("one conversation has one turn at a time, in order; several conversations run concurrently", async () => {
      const maxConcurrent = 3;
      const asked = new Counter();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      let open = 0;
      let most = 0;
      const perKey = new Map<string, number>();
      const { varve, server } = await serve(
        async (body) => {
          const key = lastUserText(body).split(" ")[0] ?? "";
          open += 1;
          most = Math.max(most, open);
          perKey.set(key, (perKey.get(key) ?? 0) + 1);
          expect(perKey.get(key)).toBe(1);
          asked.add();
          await released;
          open -= 1;
          perKey.set(key, (perKey.get(key) ?? 0) - 1);
          return { text: `re ${lastUserText(body)}` };
        },
        { turn: { maxConcurrent } },
      );
      const places = Array.from({ length: 5 }, peer);
      const sends = places.flatMap((place, index) =>
        Array.from({ length: 3 }, (_, turn) => ({ ...place, text: `k${index} ${turn}` })),
      );
      const accepted = [];
      for (const one of sends)
        accepted.push(await varve.turns.accept({ ...one, debounceMs: 0, from: { id: `s${one.text}` } }));
      // All of them are accepted before the first one is answered, so every other one could have begun by now.
      await asked.until(maxConcurrent);
      release();
      for (const one of accepted) expect((await resultOf(varve, one)).status).toBe("replied");
      expect(server.requests).toHaveLength(15);
      expect(most).toBe(maxConcurrent);
      for (const [index, place] of places.entries()) {
        const lines = await said(varve, place.session);
        expect(lines.filter((line) => line.startsWith("assistant"))).toEqual(
          [0, 1, 2].map((turn) => `assistant: re k${index} ${turn}`),
        );
      }
    });

    test("tools are run and their results go back to the model, each step written before the next", async () => {
      const { varve, server } = await serve((body, number) => {
        if (number === 1)
          return {
            calls: [
              { name: "memory_store", input: { text: "The cat is called Minka." } },
              { name: "no_such_tool", input: {} },
            ],
            text: "Let me see.",
          };
        return { text: `Done: ${body.messages.filter((one) => one.role === "tool").length} results` };
      });
      const place = peer();
      const events: TurnEvent[] = [];
      const result = await varve.turns.send(
        { ...place, text: "Remember my cat" },
        { onEvent: (event) => events.push(event) },
      );
      expect(result).toMatchObject({ status: "replied", reply: "Done: 2 results" });
      expect(events.flatMap((event) => (event.type === "tool-result" ? [[event.name, event.isError]] : []))).toEqual([
        ["memory_store", false],
        ["no_such_tool", true],
      ]);
      expect(textOf(server.requests[1]?.messages.at(-1) ?? { role: "", content: "" })).toContain(
        "There is no tool no_such_tool",
      );
      const found = await varve.memory.recall({ query: "cat Minka" });
      expect(found.hits[0]?.memory.abstract).toContain("Minka");
    });

    test("a silent answer shows nothing, not even for a moment", async () => {
      const { varve } = await serve(() => ({ text: "NO_REPLY", pieces: 8 }));
      const events: TurnEvent[] = [];
      const result = await varve.turns.send(
        { ...peer(), text: "ok thanks" },
        { onEvent: (event) => events.push(event) },
      );
      expect(result).toMatchObject({ status: "silent", reply: "" });
      expect(events.some((event) => event.type === "text")).toBe(false);
    });

    test("a failing model is asked again, then the next one answers; what was half said is taken back", async () => {
      const { varve } = await serve(
        (body, number) => {
          if (body.model === "second") return { text: "From the second." };
          return number === 1
            ? { cutAfter: "Half a" }
            : { status: 400, body: { error: { message: "bad model", type: "invalid_request_error" } } };
        },
        { models: { chatFallbacks: ["local/second"] } },
      );
      const events: TurnEvent[] = [];
      const result = await varve.turns.send({ ...peer(), text: "Hi" }, { onEvent: (event) => events.push(event) });
      expect(result).toMatchObject({ status: "replied", reply: "From the second.", model: "local/second" });
      expect(result.notes.join(" ")).toMatch(/asked again.*gave no answer/s);
      const types = events.map((event) => event.type);
      expect(types.indexOf("restarted")).toBeGreaterThan(types.indexOf("text"));
    });

    test("when no model answers, the person is told what to do and the message is kept", async () => {
      const { varve } = await serve(() => ({
        status: 401,
        body: { error: { message: "Incorrect API key provided" } },
      }));
      const place = peer();
      const result = await varve.turns.send({ ...place, text: "Are you there?" });
      expect(result).toMatchObject({
        status: "failed",
        error: { code: "MODEL_KEY_REFUSED", remedy: expect.stringContaining("key") },
      });
      expect(JSON.stringify(result)).not.toContain("sk-local-test");
      expect(await said(varve, place.session)).toEqual(["user: Are you there?"]);
    });

    test("a prompt that the provider finds too long is compacted and asked again, and nothing is lost", async () => {
      const { varve, server } = await serve((body) => ({ text: `ok, ${body.messages.length} messages` }), {
        windowTokens: 17_000,
        models: { windows: { "local/test-model": 200_000 } },
      });
      const place = peer();
      const session = await varve.sessions.resolve({ key: place.session, owner: true });
      await varve.context.ingest(
        session,
        Array.from({ length: 120 }, (_, index) => ({
          id: `o${index}`,
          role: index % 2 ? ("assistant" as const) : ("user" as const),
          content: `Line ${index}: ${"we moved the server to another rack. ".repeat(20)}`,
        })),
      );
      const result = await varve.turns.send({ ...place, text: "Still there?" });
      expect(result.status).toBe("replied");
      expect(result.notes.join(" ")).toContain("too long");
      expect(server.requests.length).toBe(2);
      expect(await said(varve, place.session)).toHaveLength(122);
    });

    test("a turn with many large tool results stays inside the window", async () => {
      let step = 0;
      const { varve, server } = await serve(
        () => {
          step += 1;
          return step <= 6
            ? { calls: [{ name: "lcm_grep", input: { pattern: "rack", limit: 200 } }] }
            : { text: "Enough." };
        },
        { windowTokens: 20_000 },
      );
      const place = peer();
      const session = await varve.sessions.resolve({ key: place.session, owner: true });
      await varve.context.ingest(
        session,
        Array.from({ length: 200 }, (_, index) => ({
          id: `o${index}`,
          role: index % 2 ? ("assistant" as const) : ("user" as const),
          content: `Line ${index}: ${"the server moved to another rack today. ".repeat(6)}`,
        })),
      );
      const result = await varve.turns.send({ ...place, text: "Look everywhere for the rack" });
      expect(result.error).toBeUndefined();
      expect(result).toMatchObject({ status: "replied", reply: "Enough." });
      expect(server.requests.length).toBeGreaterThanOrEqual(7);
    });

    test("a window that is too small is refused with what to do, one that is small is warned of", async () => {
      const { varve } = await serve(() => ({ text: "hi" }), { models: { windows: { "local/test-model": 8_000 } } });
      expect(await varve.turns.send({ ...peer(), text: "Hi" })).toMatchObject({
        status: "failed",
        error: { code: "REFUSED" },
      });
      await varve.turns.stop();
      const small = await serve(() => ({ text: "hi" }), { models: { windows: { "local/test-model": 20_000 } } });
      const result = await small.varve.turns.send({ ...peer(), text: "Hi" });
      expect(result.notes.join(" ")).toContain("small");
    });

    test("commands answer by themselves, and nothing of them enters the context", async () => {
      const { varve, server } = await serve((body) => ({ text: `seen ${body.messages.length}` }));
      const place = peer();
      const send = async (text: string) => (await varve.turns.send({ ...place, text })).reply;
      expect(await send("/help")).toContain("/remember");
      expect(await send("/status")).toMatch(/local\/test-model[\s\S]*32000 tokens \(models\.windows/);
      expect(await send("/remember My bicycle is green.")).toContain("bicycle");
      expect(await send("/recall bicycle")).toContain("green");
      expect(await send("/context")).toContain("0 summaries");
      expect(await send("/compact")).toBe("There is nothing to compact yet.");
      expect(server.requests).toHaveLength(0);
      expect(await send("Hello")).toBe("seen 2");
      expect(await send("/forget my green bicycle")).toContain("Forgotten");
      expect(await send("/new")).toContain("new session");
      expect(await send("/NEW what now?")).toMatch(/^seen/);
      expect(lastUserText(server.requests.at(-1) as ChatBody)).toBe("what now?");
      expect((await varve.sessions.history(await varve.sessions.get(place.session))).length).toBe(3);
    });

    test("what is overheard in a group is kept and shown as such when the agent is spoken to, the newest of it", async () => {
      const { varve, server } = await serve(() => ({ text: "I heard." }), {
        turn: { names: ["varve"], groupHistoryLimit: 3 },
      });
      const group = { channel: "chat", chat: { type: "group" as const, id: `g${++count}` } };
      for (let index = 0; index < 5; index += 1) {
        const heard = await varve.turns.send({ ...group, from: { id: "ann", name: "Ann" }, text: `word ${index}` });
        expect(heard.status).toBe("stored");
      }
      const result = await varve.turns.send({
        ...group,
        from: { id: "bob", name: "Bob" },
        text: "Varve, what did Ann say?",
      });
      expect(result.status).toBe("replied");
      const lines = server.requests[0]?.messages.filter((one) => one.role === "user").map(textOf) ?? [];
      expect(lines[0]).toContain("2 earlier ones are left out");
      expect(lines.slice(1)).toEqual([
        "Ann: word 2",
        "Ann: word 3",
        "Ann: word 4",
        "[The message to reply to]",
        "Bob: Varve, what did Ann say?",
      ]);
    });

    test("a message during a turn joins it or ends it, as the settings say", async () => {
      const asked = new Counter();
      const { promise: joined, resolve: join } = Promise.withResolvers<void>();
      const steer = await serve(
        async (body, number) => {
          asked.add();
          if (number > 1) return { text: `answer to ${lastUserText(body)}`, pieces: 20 };
          await joined;
          return { calls: [{ name: "memory_stats", input: {} }], text: "Working on it. " };
        },
        { turn: { whileBusy: "steer" } },
      );
      const place = peer();
      const first = steer.varve.turns.send({ ...place, text: "first" });
      await asked.until(1);
      const second = await steer.varve.turns.accept({ ...place, text: "second" });
      join();
      const [one, two] = [await first, await resultOf(steer.varve, second)];
      expect(two.turn).toBe(one.turn);
      expect(two.reply).toBe("answer to second");

      // Two processes with other settings must not share the work of one database.
      await steer.varve.turns.stop();
      // The first reply never comes to its end by itself.
      const endless = new Promise<void>(() => undefined);
      const interrupt = await serve(
        (body) => {
          const text = `answer to ${lastUserText(body)} at length`;
          return { text, pieces: 20, ...(lastUserText(body) === "first" ? { after: endless } : {}) };
        },
        { turn: { whileBusy: "interrupt" } },
      );
      const other = peer();
      const { promise: began, resolve: begin } = Promise.withResolvers<void>();
      const onEvent = (event: TurnEvent) => event.type === "text" && begin();
      const cut = interrupt.varve.turns.send({ ...other, text: "first" }, { onEvent });
      await began;
      const last = await interrupt.varve.turns.send({ ...other, text: "second" });
      expect(await cut).toMatchObject({ status: "interrupted" });
      expect(last).toMatchObject({ status: "replied", reply: "answer to second at length" });
      const lines = await said(interrupt.varve, other.session);
      expect(lines.map((line) => line.split(":")[0])).toEqual(["user", "assistant", "user", "assistant"]);
    });

    test("a message during a turn waits for its end when the settings say so", async () => {
      const asked = new Counter();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const { varve, server } = await serve(
        async (body) => {
          asked.add();
          await released;
          return { text: `answer to ${lastUserText(body)}` };
        },
        { turn: { whileBusy: "queue" } },
      );
      const place = peer();
      const first = varve.turns.send({ ...place, text: "first" });
      await asked.until(1);
      const second = await varve.turns.accept({ ...place, text: "second" });
      varve.turns.start();
      expect(server.requests).toHaveLength(1);
      release();
      expect((await first).reply).toBe("answer to first");
      const result = await resultOf(varve, second);
      expect(result.reply).toBe("answer to second");
      expect(result.turn).not.toBe((await first).turn);
    });

    test("a turn whose process is gone is finished by another one, once", async () => {
      let hang = true;
      const asked = new Counter();
      const { varve, open } = await serve((body) => {
        asked.add();
        return hang ? { hang: true } : { text: `late answer to ${lastUserText(body)}` };
      });
      const place = peer();
      const accepted = await varve.turns.accept({ ...place, text: "Do not forget me" });
      await asked.until(1);
      // It stops without grace: what it was at is left to others.
      hang = false;
      await varve.turns.stop(0);
      const other = await open();
      other.turns.start();
      expect(await resultOf(other, accepted)).toMatchObject({
        status: "replied",
        reply: "late answer to Do not forget me",
      });
      expect(await said(other, place.session)).toEqual([
        "user: Do not forget me",
        "assistant: late answer to Do not forget me",
      ]);
      expect((await other.status()).inbox).toMatchObject({ done: expect.any(Number) });
    });

    test("a turn whose lease has expired is taken over by another process, and answered once", async () => {
      let hang = true;
      const asked = new Counter();
      const { varve, open } = await serve((body) => {
        asked.add();
        return hang ? { hang: true } : { text: `late answer to ${lastUserText(body)}` };
      });
      const place = peer();
      const accepted = await varve.turns.accept({ ...place, text: "Still there?" });
      await asked.until(1);
      hang = false;
      // The other process is an hour ahead, and so is beyond the lease.
      const other = await open({ now: () => Date.now() + 3_600_000 });
      other.turns.start();
      expect(await resultOf(other, accepted)).toMatchObject({
        status: "replied",
        reply: "late answer to Still there?",
      });
      // What the first process does when it stops leaves the turn as it is.
      await varve.turns.stop(0);
      expect(await said(other, place.session)).toEqual([
        "user: Still there?",
        "assistant: late answer to Still there?",
      ]);
      expect((await other.turns.get(accepted.id)).state).toBe("done");
    });

    test("what lasts is written down before a conversation is compacted, once, and not in the transcript", async () => {
      const flushes: ChatBody[] = [];
      const { varve } = await serve(
        (body) => {
          if (!lastUserText(body).startsWith("This conversation will be compacted")) return { text: "Noted." };
          flushes.push(body);
          if (body.messages.at(-1)?.role === "tool") return { text: "NO_REPLY" };
          return { calls: [{ name: "memory_store", input: { text: "The launch is on 4 May." } }] };
        },
        { windowTokens: 20_000, config: { context: { contextThreshold: 0.9 } } },
      );
      const place = peer();
      for (let turn = 0; turn < 4; turn += 1) {
        const result = await varve.turns.send({
          ...place,
          text: `Part ${turn}: ${"The launch is planned with great care. ".repeat(380)}`,
        });
        expect(result.status).toBe("replied");
      }
      await varve.turns.stop();
      expect(flushes.length).toBeGreaterThanOrEqual(2);
      const session = await varve.sessions.get(place.session);
      expect(session.memoryFlushAt).toBeGreaterThan(0);
      expect((await said(varve, place.session)).filter((line) => line.includes("NO_REPLY"))).toEqual([]);
      expect((await varve.memory.recall({ query: "launch date May" })).hits[0]?.memory.abstract).toContain("4 May");
    });

    test("bad messages are refused with what to send instead", async () => {
      const { varve } = await serve(() => ({ text: "hi" }));
      for (const inbound of [
        { text: "  " },
        { text: "x", attachments: [{ name: "a" }] },
        { text: "x", attachments: [{ url: "not an address" }] },
        { text: "x", id: "" },
        { text: "x", session: "agent:" },
      ]) {
        await expect(varve.turns.send(inbound)).rejects.toMatchObject({ kind: "usage", remedy: expect.any(String) });
      }
      await expect(varve.turns.get("nothing")).rejects.toMatchObject({ code: "NOT_FOUND" });
    });
  },
  { clock: systemClock, random: systemRandom },
);
