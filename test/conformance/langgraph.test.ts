/** The checkpointer and the store in graphs of the real LangGraph. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  BaseCheckpointSaver,
  BaseStore,
  Command,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { expect, test } from "vitest";
import { createCheckpointer, createStore } from "../../src/plugins/langgraph/index.ts";
import { type EngineUnderTest, onEveryEngine } from "../support/engines.ts";

const execute = promisify(execFile);
const state = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  seen: Annotation<Map<string, Date | RegExp>>(),
});

onEveryEngine("LangGraph", (get) => {
  const open = ({ varve }: EngineUnderTest = get()) => createCheckpointer({ varve, BaseCheckpointSaver, owner: true });
  const thread = (id: string, more = {}) => ({ configurable: { thread_id: id, ...more } });
  const readMessages = async (key: string) => {
    const { varve } = get();
    const session = await varve.sessions.get(key);
    const { entries } = await varve.transcripts.read(session, { limit: 1_000 });
    return entries.flatMap((entry) => (entry.type === "message" ? [entry.message.content] : []));
  };
  const reply = ({ messages }: { messages: BaseMessage[] }) => ({
    messages: [new AIMessage(`You said: ${messages.at(-1)?.text}`)],
  });
  const chat = (checkpointer = open()) =>
    new StateGraph(MessagesAnnotation)
      .addNode("reply", reply)
      .addEdge(START, "reply")
      .addEdge("reply", END)
      .compile({ checkpointer });

  test("several turns continue a thread, each message is stored once, and a search finds it", async () => {
    const { varve } = get();
    for (let turn = 1; turn <= 4; turn += 1) {
      const content = `Turn ${turn}: the valve ${turn} is made of brass.`;
      // Each turn has a checkpointer of its own, as after a restart.
      const { messages } = await chat(open()).invoke({ messages: [new HumanMessage(content)] }, thread("several"));
      expect(messages).toHaveLength(turn * 2);
    }
    const stored = await readMessages("agent:main:langgraph:direct:several");
    expect(stored).toEqual(
      [1, 2, 3, 4].flatMap((turn) => {
        const said = `Turn ${turn}: the valve ${turn} is made of brass.`;
        return [said, `You said: ${said}`];
      }),
    );
    const { results } = await varve.search.find("brass valve", { kinds: ["message"], limit: 20 });
    expect(results.filter(({ text }) => text.includes("valve 3"))).toHaveLength(2);
  });

  // The second name is that of references in stored values.
  test.each(["bar", "$varve"])("a checkpoint of any values comes back as a MemorySaver gives it (%s)", async (name) => {
    const tool = new ToolMessage({
      content: [{ type: "text", text: "12 bar" }],
      tool_call_id: "c1",
      artifact: { raw: [1] },
    });
    const call = new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "measure", args: { [name]: 7 } }] });
    const question = new HumanMessage({ content: "Same.", id: "q1", additional_kwargs: { __proto__x: 1 } });
    const build = (checkpointer: BaseCheckpointSaver) =>
      new StateGraph(state)
        .addNode("first", () => ({
          messages: [call, tool, new AIMessage("ünï🦉\u0000 \u2028"), new RemoveMessage({ id: "q0" })],
          notes: ["x".repeat(5_000)],
          seen: new Map<string, Date | RegExp>([["a", /b+/gi]]),
        }))
        .addNode("second", () => ({ notes: ["two"], messages: new HumanMessage("Same.") }))
        .addEdge(START, "first")
        .addEdge("first", "second")
        .addEdge("second", END)
        .compile({ checkpointer });
    const input = { messages: [new HumanMessage({ content: "Gone.", id: "q0" }), question], notes: [] };
    const [own, other] = [build(open()), build(new MemorySaver())];
    for (const graph of [own, other]) await graph.invoke(input, thread(`values ${name}`));
    const strip = (message: BaseMessage) => ({
      ...message.toDict(),
      data: { ...message.toDict().data, id: undefined },
    });
    const list = async (graph: typeof own) => {
      const found = [];
      for await (const { values, next, metadata } of graph.getStateHistory(thread(`values ${name}`))) {
        const messages = (values.messages ?? []).map(strip);
        found.push({ ...values, messages, next, metadata: { ...metadata, parents: undefined } });
      }
      return found;
    };
    const [found, expected] = [await list(own), await list(other)];
    expect(found).toHaveLength(4);
    expect(found).toEqual(expected);
  });

  test("an interrupt waits, and the next process resumes it", async () => {
    const build = (checkpointer: BaseCheckpointSaver) =>
      new StateGraph(state)
        .addNode("plan", () => ({ notes: ["planned"] }))
        .addNode("approve", () => ({ notes: [`approved: ${interrupt("May I?")}`] }))
        .addNode("act", () => ({ notes: ["acted"] }))
        .addEdge(START, "plan")
        .addEdge("plan", "approve")
        .addEdge("approve", "act")
        .addEdge("act", END)
        .compile({ checkpointer });
    const paused = await build(open()).invoke({ notes: ["go"] }, thread("interrupt"));
    expect(paused).toMatchObject({ notes: ["go", "planned"], __interrupt__: [{ value: "May I?" }] });
    const other = await get().another();
    const next = build(createCheckpointer({ varve: other, BaseCheckpointSaver, owner: true }));
    expect((await next.getState(thread("interrupt"))).next).toEqual(["approve"]);
    const { notes } = await next.invoke(new Command({ resume: "yes" }), thread("interrupt"));
    expect(notes).toEqual(["go", "planned", "approved: yes", "acted"]);
  });

  test("a graph whose process was killed continues in another one with the step that was not finished", async () => {
    const { home, database } = get();
    const program = join(import.meta.dirname, "..", "support", "langgraph-child.ts");
    const run = (how: string) => execute(process.execPath, [program, home, database, "killed", how]);
    await expect(run("die")).rejects.toMatchObject({ signal: "SIGKILL" });
    const { stdout } = await run("resume");
    const said = ["Do both steps.", "The first step is done.", "The second step is done."];
    expect(JSON.parse(stdout)).toEqual(said);
    expect(readFileSync(join(home, "killed.log"), "utf8")).toBe("first\nsecond\nsecond\n");
    expect(await readMessages("agent:main:langgraph:direct:killed")).toEqual(said);
  });

  test("going back in time continues on a branch, and nothing is lost", async () => {
    const { varve } = get();
    const graph = chat();
    for (const text of ["one", "two", "three"])
      await graph.invoke({ messages: [new HumanMessage(text)] }, thread("travel"));
    const history = [];
    for await (const one of graph.getStateHistory(thread("travel"))) history.push(one);
    const afterOne = history.find(({ values, next }) => values.messages?.length === 2 && next.length === 0);
    const config = { configurable: { ...afterOne?.config.configurable } };
    const forked = await graph.invoke({ messages: [new HumanMessage("other two")] }, config);
    expect(forked.messages.map(({ text }) => text)).toEqual([
      "one",
      "You said: one",
      "other two",
      "You said: other two",
    ]);
    const key = "agent:main:langgraph:direct:travel";
    expect(await readMessages(key)).toEqual(["one", "You said: one", "other two", "You said: other two"]);
    const session = await varve.sessions.get(key);
    expect(await varve.transcripts.branches(session)).toHaveLength(2);
    // The state before the fork is still there, and can be continued.
    const three = history[0]?.config.configurable;
    expect((await graph.getState({ configurable: { ...three } })).values.messages).toHaveLength(6);
    const edited = await graph.updateState(
      thread("travel"),
      { messages: [new HumanMessage("added by hand")] },
      "reply",
    );
    expect((await graph.getState(edited)).values.messages.at(-1)?.text).toBe("added by hand");
    expect((await readMessages(key)).at(-1)).toBe("added by hand");
  });

  test("after a failing node, the writes of its neighbours are kept and not repeated", async () => {
    const runs = { good: 0, bad: 0 };
    const build = (checkpointer: BaseCheckpointSaver) =>
      new StateGraph(state)
        .addNode("good", () => {
          runs.good += 1;
          return { notes: ["good"] };
        })
        .addNode("bad", () => {
          runs.bad += 1;
          if (runs.bad === 1) throw new Error("The pump is stuck.");
          return { notes: ["bad"] };
        })
        .addEdge(START, "good")
        .addEdge(START, "bad")
        .addEdge("good", END)
        .addEdge("bad", END)
        .compile({ checkpointer });
    await expect(build(open()).invoke({ notes: ["go"] }, thread("failing"))).rejects.toThrow("The pump is stuck.");
    const tuple = await open().getTuple(thread("failing"));
    expect(tuple?.pendingWrites?.map(([, channel]) => channel)).toEqual(expect.arrayContaining(["notes", "__error__"]));
    const { notes } = await build(open()).invoke(null, thread("failing"));
    expect(notes).toEqual(["go", "bad", "good"]);
    expect(runs).toEqual({ good: 1, bad: 2 });
  });

  test("parallel tasks of one node, and two threads at the same time, keep their states apart", async () => {
    const graph = new StateGraph(state)
      .addNode("split", () => ({}))
      .addNode("part", (given: { part: number } & typeof state.State) => ({ notes: [`part ${given.part}`] }))
      .addEdge(START, "split")
      .addConditionalEdges("split", () => [1, 2, 3, 4].map((part) => new Send("part", { part })))
      .addEdge("part", END)
      .compile({ checkpointer: open() });
    const names = ["parallel-a", "Parallel A", "parallel a"];
    await Promise.all(names.map((name) => graph.invoke({ notes: [name] }, thread(name))));
    for (const name of names) {
      const { values } = await graph.getState(thread(name));
      expect(values.notes).toEqual([name, "part 1", "part 2", "part 3", "part 4"]);
    }
  });

  test("a sub-graph has checkpoints and a session of its own", async () => {
    const checkpointer = open();
    const inner = new StateGraph(MessagesAnnotation)
      .addNode("think", () => ({ messages: [new AIMessage("Thinking about the pump.")] }))
      .addNode("ask", () => ({ messages: [new AIMessage(`It is ${interrupt("Which pump?")}.`)] }))
      .addEdge(START, "think")
      .addEdge("think", "ask")
      .addEdge("ask", END)
      .compile();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("expert", inner)
      .addEdge(START, "expert")
      .addEdge("expert", END)
      .compile({ checkpointer });
    await graph.invoke({ messages: [new HumanMessage("Which one leaks?")] }, thread("sub"));
    const { tasks } = await graph.getState(thread("sub"), { subgraphs: true });
    const paused = tasks[0]?.state as { values: { messages: BaseMessage[] } };
    expect(paused.values.messages.map(({ text }) => text)).toEqual(["Which one leaks?", "Thinking about the pump."]);
    expect(await readMessages("agent:main:langgraph:direct:sub")).toEqual(["Which one leaks?"]);
    const { messages } = await graph.invoke(new Command({ resume: "pump 4" }), thread("sub"));
    expect(messages.map(({ text }) => text)).toEqual(["Which one leaks?", "Thinking about the pump.", "It is pump 4."]);
    expect(await readMessages("agent:main:langgraph:direct:sub/expert")).toEqual([
      "Thinking about the pump.",
      "It is pump 4.",
    ]);
    expect(await readMessages("agent:main:langgraph:direct:sub")).toHaveLength(3);
    await checkpointer.deleteThread("sub");
    expect(await checkpointer.getTuple(thread("sub"))).toBeUndefined();
    const { sessions } = await get().varve.sessions.list({ channel: "langgraph", limit: 100 });
    expect(sessions.filter(({ key }) => key.includes(":sub"))).toEqual([]);
  });

  test("equal messages without ids are all kept, and states do not show as checkpoints of the session", async () => {
    const { varve } = get();
    const list = Annotation.Root({ said: Annotation<BaseMessage[]>() });
    const said = ["yes", "yes", "no", "yes"].map((text) => new HumanMessage(text));
    const graph = new StateGraph(list)
      .addNode("none", () => ({}))
      .addEdge(START, "none")
      .addEdge("none", END)
      .compile({ checkpointer: open() });
    await graph.invoke({ said }, thread("equal"));
    expect((await graph.getState(thread("equal"))).values.said.map(({ text }: BaseMessage) => text)).toEqual([
      "yes",
      "yes",
      "no",
      "yes",
    ]);
    expect(await readMessages("agent:main:langgraph:direct:equal")).toEqual(["yes", "yes", "no", "yes"]);
    const session = await varve.sessions.get("agent:main:langgraph:direct:equal");
    expect(await varve.transcripts.checkpoints(session)).toEqual([]);
  });

  test("a store keeps items, and finds them by meaning, by filter and by namespace", async () => {
    const { varve, clock } = get();
    const store = createStore({ varve, BaseStore, owner: true });
    await store.put(["facts", "ada"], "pet", { text: "Ada's dog is called Byte.", level: 3 });
    clock.advance(1_000);
    await store.put(["facts", "ada"], "car", { text: "She drives an old van to the harbour.", level: 5 });
    await store.put(["facts", "Ada"], "pet", { text: "Another person.", level: 1 });
    await store.put(["files"], "secret", { text: "dog dog dog", level: 9 }, false);
    expect(await store.get(["facts", "ada"], "pet")).toMatchObject({
      value: { text: "Ada's dog is called Byte.", level: 3 },
    });
    const before = await store.get(["facts", "ada"], "pet");
    clock.advance(1_000);
    await store.put(["facts", "ada"], "pet", { text: "Ada's dog is called Nibble.", level: 4 });
    const after = await store.get(["facts", "ada"], "pet");
    expect(after?.createdAt).toEqual(before?.createdAt);
    expect(after?.updatedAt.getTime()).toBe((before?.updatedAt.getTime() ?? 0) + 2_000);

    const [best, ...others] = await store.search(["facts", "ada"], { query: "name of the dog" });
    expect(best).toMatchObject({
      key: "pet",
      value: { text: "Ada's dog is called Nibble." },
      namespace: ["facts", "ada"],
    });
    expect(best?.score).toBeGreaterThan(0);
    expect(others.map(({ key }) => key)).toEqual(["car"]);
    expect((await store.search(["facts"], { filter: { level: { $gte: 4 } } })).map(({ key }) => key)).toEqual([
      "pet",
      "car",
    ]);
    expect(await store.search(["facts"], { filter: { level: 5 }, query: "vehicle" })).toHaveLength(1);
    const [unindexed] = await store.search(["files"], { query: "dog" });
    expect(unindexed).toMatchObject({ key: "secret" });
    expect(unindexed?.score).toBeUndefined();

    expect(await store.listNamespaces()).toEqual([["facts", "Ada"], ["facts", "ada"], ["files"]]);
    expect(await store.listNamespaces({ prefix: ["facts"], maxDepth: 1 })).toEqual([["facts"]]);
    await store.delete(["files"], "secret");
    expect(await store.get(["files"], "secret")).toBeNull();
    expect(await store.listNamespaces({ suffix: ["files"] })).toEqual([]);
    await expect(store.put([], "key", {})).rejects.toThrow();
  });

  test("nodes read and write the store of their graph", async () => {
    const { varve } = get();
    const store = createStore({ varve, BaseStore, owner: true, fields: ["fact"] });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("remember", async ({ messages }, config: LangGraphRunnableConfig) => {
        const found = await config.store?.search(["user", "7"], { query: messages.at(-1)?.text ?? "", limit: 1 });
        await config.store?.put(["user", "7"], `m${messages.length}`, { fact: messages.at(-1)?.text, kind: "said" });
        return { messages: [new AIMessage(String(found?.[0]?.value.fact ?? "nothing"))] };
      })
      .addEdge(START, "remember")
      .addEdge("remember", END)
      .compile({ checkpointer: open(), store });
    await graph.invoke({ messages: [new HumanMessage("The key is under the mat.")] }, thread("store-1"));
    const { messages } = await graph.invoke({ messages: [new HumanMessage("Where is the key?")] }, thread("store-2"));
    expect(messages.at(-1)?.text).toBe("The key is under the mat.");
  });
});
