/** Two people with each host: what the model of one is sent, and what they reach, has nothing of the other. */
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  BaseCheckpointSaver,
  BaseStore,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { Agent, type Model, run, type Session as SdkSession, setTracingDisabled, Usage } from "@openai/agents-core";
import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, test } from "vitest";
import type { ConfigInput } from "../../src/config/index.ts";
import { systemClock } from "../../src/domain/index.ts";
import type { Session, Varve } from "../../src/index.ts";
import { AutoResponder, MemoryManager, SessionManager } from "../../src/managers/index.ts";
import { createSessionStore, type StoreEntry, varveAgentOptions } from "../../src/plugins/agent-sdk/index.ts";
import { varveMiddleware, varvePrepareStep, varveTools } from "../../src/plugins/ai-sdk/index.ts";
import { createCheckpointer, createStore } from "../../src/plugins/langgraph/index.ts";
import { varveProcessor } from "../../src/plugins/mastra/index.ts";
import { createAgentSession } from "../../src/plugins/openai-agents/index.ts";
import { modelSettings, startChatServer } from "../support/chat-server.ts";
import { onEveryEngine } from "../support/engines.ts";
import { askTools, readEverywhere } from "../support/reading-paths.ts";

setTracingDisabled(true);

const secret = "4711-zebra";
const said = `Please note: the PIN of my safe is ${secret}.`;
const question = "What is the PIN of my safe?";
const print = (value: unknown) => JSON.stringify(value);

/** Sends a text of a person in one of their chats; returns what the model was sent. */
type Say = (person: string, chat: string, text: string) => Promise<string>;

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

onEveryEngine(
  "two people",
  (get) => {
    const openAgent = (agent: string, config: ConfigInput = {}) =>
      get().another({ config: { agent, search: { embedder: "none" }, ...config } });
    const chatOf = (varve: Varve, person: string, chat: string) =>
      varve.sessions.resolve({ channel: "app", peer: person, thread: { type: "thread", id: chat } });
    /** Keeps what was said as a memory too, as a person or their agent asks for it. */
    const remember = async (varve: Varve, session: Session, text: string) => {
      const tools = await varve.tools({ session });
      await tools.find(({ name }) => name === "memory_store")?.run({ text });
    };

    const throughAiSdk =
      (varve: Varve, how: "middleware" | "prepareStep"): Say =>
      async (person, chat, text) => {
        const session = await chatOf(varve, person, chat);
        const prompts: unknown[] = [];
        const inner = new MockLanguageModelV4({
          doGenerate: async (call) => {
            prompts.push(call.prompt);
            const finishReason = { unified: "stop", raw: "stop" } as const;
            return { content: [{ type: "text", text: "Fine." }], finishReason, usage, warnings: [] };
          },
        });
        const model =
          how === "middleware"
            ? wrapLanguageModel({ model: inner, middleware: varveMiddleware({ varve, session }) })
            : inner;
        const tools = await varveTools({ varve, session });
        const step = how === "prepareStep" ? { prepareStep: varvePrepareStep({ varve, session }) } : {};
        await generateText({ model, prompt: text, tools, maxRetries: 0, ...step });
        return print(prompts);
      };

    /** Calls the processor as an agent of Mastra does in a run of one step. */
    const throughMastra =
      (varve: Varve, onError: (error: unknown) => void = () => undefined) =>
      async (person: string | undefined, chat: string, text: string) => {
        type Call = (args: object) => Promise<{ prompt: unknown }>;
        const processor = varveProcessor({
          varve,
          session: (context) =>
            varve.sessions.resolve({
              channel: "app",
              peer: context?.get("user") as string,
              thread: { type: "thread", id: String(context?.get("chat")) },
            }),
          onError,
        });
        const context = new Map(Object.entries({ chat, ...(person === undefined ? {} : { user: person }) }));
        const step = { state: {}, model: { provider: "scripted", modelId: "small" }, requestContext: context };
        const prompt = [{ role: "user", content: [{ type: "text", text }] }];
        const sent = await (processor.processLLMRequest as Call)({ ...step, prompt });
        const chunks = [
          { type: "text-delta", payload: { id: "1", text: "Fine." } },
          { type: "finish", payload: { stepResult: { reason: "stop" }, output: {} } },
        ];
        await (processor.processLLMResponse as Call)({ ...step, chunks });
        return print(sent.prompt);
      };

    const throughOpenai =
      (varve: Varve): Say =>
      async (person, chat, text) => {
        const session = await chatOf(varve, person, chat);
        const requests: unknown[] = [];
        const model: Model = {
          async getResponse({ input }) {
            requests.push(structuredClone(input));
            const content = [{ type: "output_text" as const, text: "Fine." }];
            return {
              usage: new Usage(),
              output: [{ type: "message", role: "assistant", status: "completed", content }],
            };
          },
          // biome-ignore lint/correctness/useYield: runs of this test do not stream.
          async *getStreamedResponse() {
            throw new Error("not streamed");
          },
        };
        const kept = createAgentSession({ varve, session, budgetTokens: 4_000 }) as unknown as SdkSession;
        await run(new Agent({ name: "Helper", model }), text, { session: kept });
        return print([requests, await kept.getItems()]);
      };

    type Host = [name: string, open: (varve: Varve) => Say, hasRecall: boolean];
    const hosts: Host[] = [
      ["the middleware of the AI SDK", (varve) => throughAiSdk(varve, "middleware"), true],
      ["prepareStep of the AI SDK", (varve) => throughAiSdk(varve, "prepareStep"), true],
      ["Mastra", (varve) => throughMastra(varve) as Say, true],
      ["the OpenAI Agents SDK", (varve) => throughOpenai(varve), false],
    ];

    test.each(hosts)("have nothing of each other with %s, and each has their own", async (name, open, hasRecall) => {
      const varve = await openAgent(`host${hosts.findIndex(([one]) => one === name)}`);
      const say = open(varve);
      await say("ann", "c1", said);
      const anns = await chatOf(varve, "ann", "c1");
      await remember(varve, anns, said);
      await varve.memory.extract(anns);
      // Bob may guess the name of Ann's chat.
      for (const chat of ["c1", "c2"]) {
        expect(await say("bob", chat, question)).not.toContain(secret);
        const bobs = await chatOf(varve, "bob", chat);
        const reached = await readEverywhere(varve, bobs, "PIN", [anns]);
        expect(reached).not.toContain(secret);
        expect(reached).not.toContain("direct:ann");
      }
      const asked = await say("ann", "c3", question);
      if (hasRecall) expect(asked).toContain(secret);
      expect(await readEverywhere(varve, await chatOf(varve, "ann", "c3"), "PIN", [anns])).toContain(secret);
      // The owner of the agent sees what was said to it.
      const owners = await varve.sessions.resolve({ owner: true } as object);
      expect(await readEverywhere(varve, owners, "PIN", [anns])).toContain(secret);
    });

    describe("with the AI SDK", () => {
      test("get no tools without a session", async () => {
        const { varve } = get();
        const missing: { session?: Session } = { session: undefined };
        await expect(varveTools({ varve, ...missing })).rejects.toMatchObject({ code: "BAD_REQUEST" });
        await expect(varveTools({ varve })).rejects.toMatchObject({ code: "BAD_REQUEST" });
        expect(Object.keys(await varveTools({ varve, owner: true }))).toContain("lcm_grep");
      });
    });

    describe("with Mastra", () => {
      test("a run of nobody goes on without a memory, and shows nothing of anybody", async () => {
        const varve = await openAgent("mastra-nobody");
        const errors: unknown[] = [];
        const say = throughMastra(varve, (error) => errors.push(error));
        await say("ann", "c1", said);
        expect(errors).toEqual([]);
        const sent = await say(undefined, "c1", question);
        expect(JSON.parse(sent)).toEqual([{ role: "user", content: [{ type: "text", text: question }] }]);
        expect(errors).toMatchObject([{ code: "BAD_REQUEST" }]);
        expect((await varve.sessions.list()).sessions).toHaveLength(1);
      });
    });

    describe("with LangGraph", () => {
      const config = (user: string | undefined, thread: string) => ({
        configurable: { thread_id: thread, ...(user === undefined ? {} : { user_id: user }) },
      });
      const peer = ({ user_id }: Readonly<Record<string, unknown>>) => user_id;
      const seen: string[] = [];
      const chat = (checkpointer: BaseCheckpointSaver, store?: BaseStore) =>
        new StateGraph(MessagesAnnotation)
          .addNode("reply", async ({ messages }, { store }: LangGraphRunnableConfig) => {
            const text = messages.at(-1)?.text ?? "";
            const found = await store?.search(["memories"], { query: text });
            seen.push(print([messages, found]));
            await store?.put(["memories"], "last", { text });
            return { messages: [new AIMessage("Fine.")] };
          })
          .addEdge(START, "reply")
          .addEdge("reply", END)
          .compile({ checkpointer, store });
      const invoke = async (graph: ReturnType<typeof chat>, text: string, at: ReturnType<typeof config>) => {
        await graph.invoke({ messages: [new HumanMessage(text)] }, at);
        return seen.at(-1) ?? "";
      };

      test("have threads and stores of their own, also under the same names", async () => {
        const varve = await openAgent("graph");
        const checkpointer = createCheckpointer({ varve, BaseCheckpointSaver, peer });
        const open = (person: string) => chat(checkpointer, createStore({ varve, BaseStore, peer: person }));
        await invoke(open("ann"), said, config("ann", "t1"));
        const anns = await varve.sessions.get("agent:graph:langgraph:direct:t1");
        await remember(varve, anns, said);
        await varve.memory.extract(anns);

        const bobs = open("bob");
        expect((await bobs.getState(config("bob", "t1"))).values).toEqual({});
        for (const thread of ["t1", "t2"]) {
          expect(await invoke(bobs, question, config("bob", thread))).not.toContain(secret);
          const { values } = await bobs.getState(config("bob", thread));
          expect(print(values)).toContain(question);
          expect(print(values)).not.toContain(secret);
          for await (const one of bobs.getStateHistory(config("bob", thread)))
            expect(print(one.values)).not.toContain(secret);
        }
        const { sessions } = await varve.sessions.list({ agent: "graph", limit: 100 });
        const own = sessions.filter(({ audience }) => audience === "user:app:bob");
        expect(own).toHaveLength(3);
        for (const session of own) {
          const reached = await readEverywhere(varve, session, "PIN", [anns]);
          expect(reached).not.toContain(secret);
          expect(reached).not.toContain("user:app:ann");
        }
        const store = createStore({ varve, BaseStore, peer: "bob" });
        expect(await store.search(["memories"], { query: "PIN" })).toMatchObject([{ value: { text: question } }]);
        expect(await store.listNamespaces()).toEqual([["memories"]]);

        const ann = open("ann");
        expect(print((await ann.getState(config("ann", "t1"))).values)).toContain(secret);
        expect(print(await createStore({ varve, BaseStore, peer: "ann" }).get(["memories"], "last"))).toContain(secret);
        expect(await readEverywhere(varve, anns, "PIN")).toContain(secret);
      });

      test("delete and list their own threads only", async () => {
        const varve = await openAgent("graph-delete");
        const open = (person: string) => createCheckpointer({ varve, BaseCheckpointSaver, peer: person });
        await invoke(chat(open("ann")), said, config(undefined, "t1"));
        const list = async (saver: BaseCheckpointSaver, at: object) => {
          const found: string[] = [];
          for await (const one of saver.list(at)) found.push(print(one));
          return found.join("\n");
        };
        for (const at of [{}, config(undefined, "t1")]) expect(await list(open("bob"), at)).toBe("");
        await open("bob").deleteThread("t1");
        await createCheckpointer({ varve, BaseCheckpointSaver, owner: true }).deleteThread("t1");
        expect(await list(open("ann"), {})).toContain(secret);
        const unknown = createCheckpointer({ varve, BaseCheckpointSaver, peer });
        await expect(unknown.deleteThread("t1")).rejects.toMatchObject({ code: "BAD_REQUEST" });
        await open("ann").deleteThread("t1");
        expect(await list(open("ann"), {})).toBe("");
      });

      test("a sub-graph belongs to whom its thread belongs, and gets the person of the run", async () => {
        const varve = await openAgent("graph-sub");
        const inner = new StateGraph(MessagesAnnotation)
          .addNode("think", () => ({ messages: [new AIMessage(`Thinking about ${secret}.`)] }))
          .addEdge(START, "think")
          .addEdge("think", END)
          .compile();
        const graph = new StateGraph(MessagesAnnotation)
          .addNode("expert", inner)
          .addEdge(START, "expert")
          .addEdge("expert", END)
          .compile({ checkpointer: createCheckpointer({ varve, BaseCheckpointSaver, peer }) });
        const ask = (person: string) => graph.invoke({ messages: [new HumanMessage("Think.")] }, config(person, "s1"));
        await ask("ann");
        const { audience } = await varve.sessions.get("agent:graph-sub:langgraph:direct:s1/expert");
        expect(audience).toBe("user:app:ann");
        const { messages }: { messages: BaseMessage[] } = await ask("bob");
        expect(messages).toHaveLength(2);
      });

      test("a missing login is nobody", async () => {
        const { varve } = get();
        const graph = chat(createCheckpointer({ varve, BaseCheckpointSaver, peer }));
        for (const at of [config(undefined, "t9"), config("", "t9")]) {
          await expect(invoke(graph, said, at)).rejects.toMatchObject({ code: "BAD_REQUEST" });
          await expect(graph.getState(at)).rejects.toMatchObject({ code: "BAD_REQUEST" });
        }
        for (const missing of [undefined, "", null]) {
          const given = { varve, BaseCheckpointSaver, BaseStore, peer: missing as string };
          expect(() => createCheckpointer(given)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
          expect(() => createStore(given)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
        }
      });

      test("a thread of nobody sees itself only, keeps that, and is no person's", async () => {
        const varve = await openAgent("graph-alone");
        const open = (who: object) => chat(createCheckpointer({ varve, BaseCheckpointSaver, ...who }));
        await invoke(open({}), said, config(undefined, "t1"));
        await invoke(open({}), question, config(undefined, "t2"));
        const [first, second] = await Promise.all(
          ["t1", "t2"].map((id) => varve.sessions.get(`agent:graph-alone:langgraph:direct:${id}`)),
        );
        if (!first || !second) throw new Error("the threads have no sessions");
        expect(await readEverywhere(varve, second, "PIN", [first])).not.toContain(secret);
        expect(await readEverywhere(varve, first, "PIN", [first])).toContain(secret);
        await expect(open({ peer: "bob" }).getState(config(undefined, "t1"))).rejects.toMatchObject({
          code: "REFUSED",
        });
        expect(await invoke(open({ owner: true }), question, config(undefined, "t1"))).toContain(secret);
        expect((await varve.sessions.get(first.key)).audience).toBe(first.audience);
        // And without saying who speaks, nobody's thread is opened that is somebody's.
        await invoke(open({ peer: "ann" }), said, config(undefined, "t3"));
        await expect(open({}).getState(config(undefined, "t3"))).rejects.toMatchObject({ code: "REFUSED" });
      });

      test("one person over linked ids has one thread, and the owner's id is the owner", async () => {
        const identityLinks = { ann: ["app:ann-1", "slack:U1"] };
        const varve = await openAgent("graph-links", { session: { identityLinks } });
        const open = (who: object) => chat(createCheckpointer({ varve, BaseCheckpointSaver, ...who }));
        await invoke(open({ peer: "ann-1" }), said, config(undefined, "t1"));
        expect(await invoke(open({ peer: "U1", channel: "slack" }), question, config(undefined, "t1"))).toContain(
          secret,
        );
        expect(await invoke(open({ peer: "U1" }), question, config(undefined, "t1"))).not.toContain(secret);
        await invoke(open({ peer: "olga" }), "Before.", config(undefined, "t2"));
        await varve.owners.add({ agent: "graph-links", channel: "app", id: "olga" });
        await invoke(open({ peer: "olga" }), "After.", config(undefined, "t2"));
        await invoke(open({ peer: "olga" }), "New.", config(undefined, "t3"));
        expect(await invoke(open({ owner: true }), question, config(undefined, "t2"))).toContain("After.");
        expect((await varve.sessions.get("agent:graph-links:langgraph:direct:t3")).audience).toBeUndefined();
      });
    });

    describe("with Claude's Agent SDK", () => {
      const line = (uuid: string, text: string): StoreEntry => ({
        ...{ type: "user", uuid, parentUuid: null, timestamp: "2026-01-15T10:00:00.000Z" },
        message: { role: "user", content: text },
      });
      const recall = (options: ReturnType<typeof varveAgentOptions>, prompt: string, session_id: string) => {
        const [hook] = options.hooks.UserPromptSubmit[0]?.hooks ?? [];
        return hook?.({ hook_event_name: "UserPromptSubmit", prompt, session_id } as never).then(print);
      };
      const projectKey = "-srv-app";

      test("recall, open and delete only what is theirs", async () => {
        const varve = await openAgent("sdk");
        const fail = (error: unknown) => {
          throw error;
        };
        const open = (person: string) => varveAgentOptions({ varve, peer: person, onError: fail });
        const [ann, bob] = [open("ann"), open("bob")];
        const key = { projectKey, sessionId: "s1" };
        const part = { ...key, subpath: "subagents/agent-x" };
        await ann.sessionStore.append(key, [line("u1", said)]);
        await ann.sessionStore.append(part, [line("p1", said)]);
        const anns = await varve.sessions.get("agent:sdk:claude-code:direct:s1");
        await remember(varve, anns, said);
        expect((await varve.sessions.get("agent:sdk:subagent:s1.agent-x")).audience).toBe("user:app:ann");

        for (const id of ["s1", "s2"]) expect(await recall(bob, question, id)).toBe("{}");
        expect(await bob.sessionStore.load(key)).toBeNull();
        expect(await bob.sessionStore.load(part)).toBeNull();
        expect(await bob.sessionStore.listSubkeys(key)).toEqual([]);
        expect(await bob.sessionStore.listSessions(projectKey)).toEqual([]);
        await bob.sessionStore.delete(key);
        // Under the same id, Bob has a session of his own.
        await bob.sessionStore.append(key, [line("u2", question)]);
        expect(await bob.sessionStore.load(key)).toEqual([line("u2", question)]);
        const { sessions } = await varve.sessions.list({ agent: "sdk", limit: 100, all: true });
        const bobs = sessions.find(({ audience }) => audience === "user:app:bob");
        if (!bobs) throw new Error("Bob has no session");
        expect(await readEverywhere(varve, bobs, "PIN", [anns])).not.toContain(secret);

        expect(await ann.sessionStore.load(key)).toEqual([line("u1", said)]);
        expect(await ann.sessionStore.listSessions(projectKey)).toHaveLength(1);
        expect(await recall(ann, question, "s3")).toContain(secret);
        // The store alone, and the owner's program.
        expect(await createSessionStore({ varve, peer: "bob" }).load(part)).toBeNull();
        expect(await createSessionStore({ varve, peer: "ann" }).load(part)).toEqual([line("p1", said)]);
        expect(await createSessionStore({ varve, owner: true }).load(key)).toBeNull();
      });

      test("have an MCP server that is bound to them", async () => {
        const varve = await openAgent("sdk-mcp");
        await varveAgentOptions({ varve, peer: "ann" }).sessionStore.append({ projectKey, sessionId: "s1" }, [
          line("u1", said),
        ]);
        const anns = await varve.sessions.get("agent:sdk-mcp:claude-code:direct:s1");
        await remember(varve, anns, said);
        const { entries } = await varve.transcripts.read(anns);
        const readAs = async (person: string) => {
          const { mcpServers } = varveAgentOptions({ varve, peer: person });
          expect(mcpServers.varve?.args).toEqual(expect.arrayContaining(["--channel=app", `--peer=${person}`]));
          const principal = await varve.sessions.resolvePrincipal({ channel: "app", peer: person });
          return askTools(
            await varve.tools({ principal }),
            "PIN",
            entries.map(({ seq }) => seq),
          );
        };
        expect(await readAs("bob")).not.toContain(secret);
        expect(await readAs("ann")).toContain(secret);
        expect(varveAgentOptions({ varve, owner: true }).mcpServers.varve?.args.join(" ")).not.toContain("--peer");
        expect(varveAgentOptions({ varve }).mcpServers).toEqual({});
      });

      test("a missing login is nobody, and a session of nobody sees itself only", async () => {
        const varve = await openAgent("sdk-alone");
        for (const missing of [undefined, "", null]) {
          const given = { varve, peer: missing as string };
          expect(() => varveAgentOptions(given)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
          expect(() => createSessionStore(given)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
        }
        const own = varveAgentOptions({ varve, owner: true });
        await own.sessionStore.append({ projectKey, sessionId: "s1" }, [line("u1", said)]);
        await varve.memory.add({ text: said, agent: "sdk-alone" });
        const alone = varveAgentOptions({ varve });
        await alone.sessionStore.append({ projectKey, sessionId: "s2" }, [line("u2", "Hello.")]);
        for (const id of ["s1", "s2", "s3"]) expect(await recall(alone, question, id)).toBe("{}");
        await expect(alone.sessionStore.load({ projectKey, sessionId: "s1" })).rejects.toMatchObject({
          code: "REFUSED",
        });
        expect(await alone.sessionStore.load({ projectKey, sessionId: "s2" })).toHaveLength(1);
        expect((await alone.sessionStore.listSessions(projectKey)).map(({ sessionId }) => sessionId)).toEqual(["s2"]);
        expect(await recall(own, question, "s4")).toContain(secret);
      });
    });

    describe("with the managers", () => {
      test("have sessions, searches and memories of their own", async () => {
        const varve = await openAgent("managers");
        const sessions = new SessionManager({ varve });
        const memory = new MemoryManager({ varve });
        const [ann, bob] = [await sessions.getOrCreate("app", "ann"), await sessions.getOrCreate("app", "bob")];
        await sessions.appendMessage(ann.sessionId, "user", said);
        await memory.indexChunk({ text: said, sessionKey: ann.sessionKey });
        await memory.indexSession(ann.sessionId);
        await sessions.appendMessage(bob.sessionId, "user", question);
        expect(print(await memory.search("PIN", { sessionKey: bob.sessionKey }))).not.toContain(secret);
        expect(print(await memory.search("PIN", { sessionKey: ann.sessionKey }))).toContain(secret);
        expect(print(await sessions.loadTranscript(bob.sessionId))).not.toContain(secret);
        const [anns, bobs] = [await varve.sessions.get(ann.sessionId), await varve.sessions.get(bob.sessionId)];
        expect(await readEverywhere(varve, bobs, "PIN", [anns])).not.toContain(secret);
        expect(await readEverywhere(varve, anns, "PIN", [anns])).toContain(secret);
      });

      test("are answered with what is theirs", async () => {
        const { home, database, kind } = get();
        const server = await startChatServer(() => ({ text: "Fine." }));
        const sent = () => print(server.requests.at(-1));
        const config = {
          agent: `responder-${kind}`,
          search: { embedder: "none" as const },
          models: modelSettings(server.url),
        };
        const responder = new AutoResponder({ home, database, config, clock: systemClock }, { debounceMs: 0 });
        try {
          const say = (userId: string, text: string) => responder.respond({ channel: "app", userId, text });
          await say("ann", said);
          await say("ann", `/remember ${said}`);
          await say("bob", question);
          expect(sent()).toContain(question);
          expect(sent()).not.toContain(secret);
          for (const command of ["/recall PIN", "/recall safe"])
            expect(await say("bob", command)).not.toContain(secret);
          // An id that looks like a thread of Ann is somebody else.
          await say("ann:thread:1", question);
          expect(sent()).not.toContain(secret);
          expect(await say("ann:thread:1", "/recall PIN")).not.toContain(secret);
          await say("ann", question);
          expect(sent()).toContain(secret);
        } finally {
          await responder.close();
          await server.close();
        }
      });
    });
  },
  { config: { search: { embedder: "none" } } },
);
