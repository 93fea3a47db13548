/** A model server of a test: it speaks Anthropic's Messages API with server-sent events, and says what a script says. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface MessagesBody {
  model: string;
  system?: unknown;
  messages: { role: string; content: unknown }[];
  tools?: { name: string }[];
  stream?: boolean;
}

export interface MessagesServer {
  url: string;
  requests: MessagesBody[];
  close(): Promise<void>;
}

export type Reply = string | { tool: string; input: unknown };

export async function startMessagesServer(script: (body: MessagesBody) => Reply): Promise<MessagesServer> {
  const requests: MessagesBody[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += chunk;
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    if (request.method !== "POST" || !path.startsWith("/v1/messages")) {
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const body = JSON.parse(text) as MessagesBody;
    if (path.endsWith("/count_tokens")) return sendJson(response, { input_tokens: tokensOf(body) });
    requests.push(body);
    const id = `msg_${requests.length}`;
    const reply = script(body);
    const block =
      typeof reply === "string"
        ? { type: "text", text: reply }
        : { type: "tool_use", id: `toolu_${requests.length}`, name: reply.tool, input: reply.input };
    const stop = typeof reply === "string" ? "end_turn" : "tool_use";
    const usage = { input_tokens: tokensOf(body), output_tokens: 20 };
    const head = { id, type: "message", role: "assistant", model: body.model };
    if (!body.stream) {
      return sendJson(response, { ...head, content: [block], stop_reason: stop, stop_sequence: null, usage });
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (type: string, data: object): void => {
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    };
    send("message_start", { message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage } });
    const [empty, delta] =
      block.type === "text"
        ? [
            { ...block, text: "" },
            { type: "text_delta", text: reply },
          ]
        : [
            { ...block, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify("input" in block ? block.input : {}) },
          ];
    send("content_block_start", { index: 0, content_block: empty });
    send("content_block_delta", { index: 0, delta });
    send("content_block_stop", { index: 0 });
    send("message_delta", {
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    });
    send("message_stop", {});
    response.end();
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

function tokensOf(body: MessagesBody): number {
  return Math.ceil(JSON.stringify(body.messages).length / 4);
}

/** Everything a request says in its messages, as one text. */
export function textOfMessages({ messages }: MessagesBody): string {
  return messages.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content))).join("\n");
}
