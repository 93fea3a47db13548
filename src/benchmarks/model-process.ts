import { spawn } from "node:child_process";
import { once } from "node:events";
import { VarveError } from "../index.ts";

/** A model server in a separate process, so that its cost is not counted. It streams its answer after a delay. */
const server = (latencyMs: number): string => `
  const http = require("node:http");
  const piece = (delta, finish) => "data: " + JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1,
    model: "m", choices: [{ index: 0, delta, finish_reason: finish }] }) + "\\n\\n";
  http.createServer((request, response) => {
    request.resume().on("end", () => setTimeout(() => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const word of "An answer of some length , in pieces .".split(" ")) response.write(piece({ role: "assistant", content: word + " " }, null));
      response.write(piece({}, "stop"));
      response.end("data: [DONE]\\n\\n");
    }, ${latencyMs}));
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

export interface ModelProcess {
  /** The base URL of its chat completions. */
  url: string;
  stop(): void;
}

export async function startModelProcess(latencyMs: number): Promise<ModelProcess> {
  const child = spawn(process.execPath, ["-e", server(latencyMs)], { stdio: ["ignore", "pipe", "inherit"] });
  if (child.stdout === null) throw new VarveError("INTERNAL", "The model server of the bench has no output.");
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { url: `http://127.0.0.1:${Number(String(line))}/v1`, stop: () => child.kill() };
}
