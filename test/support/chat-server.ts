/** A model server of a test: it speaks OpenAI's chat completions over HTTP, streaming, and says what a script says. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface ChatMessage {
  role: string;
  content: unknown;
  name?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  tools?: { function: { name: string } }[];
}

export type Says =
  /** With `after`, everything but the first piece waits for it. */
  | { text: string; pieces?: number; delayMs?: number; after?: Promise<void> }
  | { calls: { name: string; input: unknown }[]; text?: string }
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** Cuts the connection after so much of a text. */
  | { cutAfter: string }
  /** Never says anything. */
  | { hang: true };

export interface ChatServer {
  url: string;
  requests: ChatBody[];
  close(): Promise<void>;
}

export interface ChatServerOptions {
  latencyMs?: number;
  /** Requests above this are refused as OpenAI does. */
  windowTokens?: number;
}

export async function startChatServer(
  script: (body: ChatBody, count: number) => Says | Promise<Says>,
  options: ChatServerOptions = {},
): Promise<ChatServer> {
  const requests: ChatBody[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text) as ChatBody;
    requests.push(body);
    const count = requests.length;
    if (options.latencyMs) await sleep(options.latencyMs);
    const tokens = tokensOf(body);
    if (options.windowTokens !== undefined && tokens > options.windowTokens) {
      return refuse(response, 400, {
        error: {
          message: `This model's maximum context length is ${options.windowTokens} tokens. However, your messages resulted in ${tokens} tokens.`,
          type: "invalid_request_error",
          code: "context_length_exceeded",
        },
      });
    }
    const says = await script(body, count);
    if ("hang" in says) return;
    if ("status" in says) return refuse(response, says.status, says.body ?? { error: { message: "no" } }, says.headers);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: unknown, finish: string | null = null, onSent = (): void => undefined): void => {
      response.write(
        `data: ${JSON.stringify({ id: `c${count}`, object: "chat.completion.chunk", created: 1, model: body.model, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
        onSent,
      );
    };
    if ("cutAfter" in says) {
      send({ role: "assistant", content: says.cutAfter }, null, () => response.destroy());
      return;
    }
    if ("calls" in says) {
      if (says.text) send({ role: "assistant", content: says.text });
      const calls = says.calls.map(({ name, input }, index) => ({
        index,
        id: `call_${count}_${index}`,
        type: "function",
        function: { name, arguments: JSON.stringify(input) },
      }));
      send({ role: "assistant", tool_calls: calls });
      send({}, "tool_calls");
    } else {
      const size = Math.max(1, Math.ceil(says.text.length / (says.pieces ?? 3)));
      for (let from = 0; from < says.text.length; from += size) {
        send({ role: "assistant", content: says.text.slice(from, from + size) });
        if (says.delayMs) await sleep(says.delayMs);
        if (from === 0) await says.after;
      }
      send({}, "stop");
    }
    const usage = { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 };
    response.write(
      `data: ${JSON.stringify({ id: `c${count}`, object: "chat.completion.chunk", created: 1, model: body.model, choices: [], usage })}\n\n`,
    );
    response.end("data: [DONE]\n\n");
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function refuse(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** About as a tokenizer counts. */
export function tokensOf(body: ChatBody): number {
  return Math.ceil(JSON.stringify([body.messages, body.tools ?? []]).length / 4);
}

export function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

/** The last message of the user, without blocks that memory added. */
export function lastUserText({ messages }: ChatBody): string {
  const said = messages.filter((message) => message.role === "user").map(textOf);
  return said.findLast((text) => !text.startsWith("<")) ?? "";
}

/** The settings that make a chat server the model that replies. */
export function modelSettings(url: string, windowTokens = 32_000) {
  return {
    chat: "local/test-model",
    windows: { "local/test-model": windowTokens },
    providers: { local: { baseUrl: url, apiKey: "sk-local-test" } },
  };
}
