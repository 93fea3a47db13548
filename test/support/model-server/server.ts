/** A model server that speaks the providers' own wire formats, with a window that it defends with their own errors. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicDialect } from "./anthropic.ts";
import type { Dialect, Fault, Json, Said, Seen } from "./dialect.ts";
import { chatDialect } from "./openai-chat.ts";
import { responsesDialect } from "./openai-responses.ts";

export interface ModelServerOptions {
  limitTokens: number;
  /** Whether the answer's length is added to the prompt before it is compared with the window. */
  countsAnswer?: boolean;
  say?: (body: Json, n: number) => Said;
  fault?: (seen: Seen, n: number) => Fault | undefined;
  hasCounting?: boolean;
  /** Whether a prompt that is too long is refused inside of the stream, where a dialect knows that. */
  refusesInStream?: boolean;
}

export interface ModelServer {
  url: string;
  /** Every request, the oldest first. */
  seen: Seen[];
  options: ModelServerOptions;
  close(): Promise<void>;
}

const dialects: Readonly<Record<string, Dialect>> = {
  "/v1/messages": anthropicDialect,
  "/v1/chat/completions": chatDialect,
  "/v1/responses": responsesDialect,
};

/** About what the providers' tokenizers make of it. */
export function countTokens(value: unknown): number {
  return Math.ceil(JSON.stringify(value ?? "").length / 3.7);
}

export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const seen: Seen[] = [];
  const state = { options };
  const server = createServer((request, response) => {
    void answer(state.options, seen, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    get options() {
      return state.options;
    },
    set options(next) {
      state.options = next;
    },
    close: () => close(server),
  };
}

function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function answer(
  options: ModelServerOptions,
  all: Seen[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const path = (request.url ?? "").split("?")[0] ?? "";
  const body = bytes.length === 0 ? {} : (JSON.parse(bytes.toString()) as Json);
  const isCount = path === "/v1/messages/count_tokens";
  const dialect = dialects[isCount ? "/v1/messages" : path];
  const tokens = dialect ? countTokens(dialect.counted(body)) : 0;
  const seen: Seen = {
    path: request.url ?? "",
    headers: request.headers,
    bytes,
    body,
    tokens,
    status: 200,
    aborted: false,
  };
  all.push(seen);
  const n = all.length;
  response.on("close", () => {
    seen.aborted = !response.writableFinished;
  });
  const send = (status: number, value: unknown, headers: Record<string, string> = {}): void => {
    seen.status = status;
    response.writeHead(status, { "content-type": "application/json", "request-id": `req_${n}`, ...headers });
    response.end(typeof value === "string" ? value : JSON.stringify(value));
  };
  const fault = options.fault?.(seen, n);
  if (fault?.kind === "hang") return;
  if (fault?.kind === "status") return send(fault.status, fault.body ?? { error: { message: "no" } }, fault.headers);
  if (fault?.kind === "garbage") return send(200, "<html>what is this</html>");
  if (path === "/v1/models") return send(200, { object: "list", data: [{ id: "local" }] });
  if (isCount && options.hasCounting !== false) return send(200, { input_tokens: tokens });
  if (!dialect || isCount) return send(404, { error: { message: "not found" } });
  const wrong = dialect.wrong(body);
  if (wrong) return send(400, wrong);
  const most = dialect.maxTokens(body);
  const isOver = tokens + (options.countsAnswer ? most : 0) > options.limitTokens;
  if (isOver && options.refusesInStream && body.stream === true && dialect.refusal) {
    seen.status = 400;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of dialect.refusal(body, n, tokens, options.limitTokens)) {
      response.write(event);
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
    return;
  }
  if (isOver) return send(400, dialect.overflow(tokens, most, options.limitTokens, options.countsAnswer === true));
  const said = options.say?.(body, n) ?? { text: `answer ${n}` };
  const usage = { input: tokens, output: countTokens(said) };
  if (body.stream !== true) return send(200, dialect.whole(body, said, usage, n));
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": `req_${n}` });
  const events = dialect.events(body, said, usage, n);
  const isCut = fault?.kind === "cut";
  for (const event of isCut ? events.slice(0, Math.ceil(events.length / 2)) : events) {
    if (!response.write(event)) await new Promise((resolve) => response.once("drain", resolve));
  }
  // What was written has to leave before the connection breaks.
  if (isCut) response.write(": cut\n", () => response.destroy());
  else response.end();
}
