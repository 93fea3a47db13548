/** A program with a graph that ends in the middle: `node langgraph-child.ts HOME DATABASE THREAD die|resume`. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { BaseCheckpointSaver, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { openVarve } from "../../src/index.ts";
import { createCheckpointer } from "../../src/plugins/langgraph/index.ts";

const [home = "", database = "", thread_id = "", how = ""] = process.argv.slice(2);
const varve = await openVarve({ home, database, background: false, config: { search: { embedder: "none" } } });
const note = (text: string) => appendFileSync(join(home, `${thread_id}.log`), `${text}\n`);
const checkpointer = createCheckpointer({ varve, BaseCheckpointSaver, owner: true });
const config = { configurable: { thread_id } };

/** LangGraph starts a step while the checkpoint of the one before is being written. */
async function dieAfterCheckpoint(): Promise<void> {
  let step: number | undefined;
  while (step !== 1) step = (await checkpointer.getTuple(config))?.metadata?.step;
  process.kill(process.pid, "SIGKILL");
}

const graph = new StateGraph(MessagesAnnotation)
  .addNode("first", () => {
    note("first");
    return { messages: [new AIMessage("The first step is done.")] };
  })
  .addNode("second", async () => {
    note("second");
    if (how === "die") await dieAfterCheckpoint();
    return { messages: [new AIMessage("The second step is done.")] };
  })
  .addEdge(START, "first")
  .addEdge("first", "second")
  .addEdge("second", END)
  .compile({ checkpointer });
const input = how === "die" ? { messages: [new HumanMessage("Do both steps.")] } : null;
const { messages } = await graph.invoke(input, config);
await varve.close();
console.log(JSON.stringify(messages.map(({ text }) => text)));
