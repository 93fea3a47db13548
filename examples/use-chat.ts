/** A route for `useChat` of the AI SDK that remembers every message. Run: node examples/use-chat.ts */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertToModelMessages, streamText, type UIMessage, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { openVarve } from "varve";
import { varveMiddleware } from "varve/ai-sdk";

const home = mkdtempSync(join(tmpdir(), "varve-example-"));
const varve = await openVarve({ home });

/** In your program, a model of a provider: `openai("gpt-5")`, `anthropic("claude-sonnet-4-5")`. */
const model = createRepeatingModel();

/** POST /api/chat: the page sends all messages of the chat. */
async function POST(request: Request): Promise<Response> {
  const { id, messages } = (await request.json()) as { id: string; messages: UIMessage[] };
  const session = await varve.sessions.resolve({ channel: "web", peer: id, agent: "main" });
  const remembering = wrapLanguageModel({ model, middleware: varveMiddleware({ varve, session }) });
  const result = streamText({ model: remembering, messages: await convertToModelMessages(messages) });
  return result.toUIMessageStreamResponse();
}

/** GET /api/chat?id=…: the messages for a page that is opened again. */
async function GET(request: Request): Promise<Response> {
  const id = new URL(request.url).searchParams.get("id") ?? "";
  const session = await varve.sessions.resolve({ channel: "web", peer: id, agent: "main" });
  const { entries } = await varve.transcripts.read(session, { limit: 50 });
  const messages = entries.flatMap((entry): UIMessage[] => {
    if (entry.type !== "message" || (entry.message.role !== "user" && entry.message.role !== "assistant")) return [];
    const { content, role } = entry.message;
    const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    return [
      {
        id: entry.id,
        role,
        parts: parts.flatMap((part) => (part.type === "text" ? [{ type: "text", text: part.text }] : [])),
      },
    ];
  });
  return Response.json(messages);
}

const chat = {
  id: "ann",
  messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "My flight is on Friday." }] }],
};
const streamed = await POST(new Request("http://localhost/api/chat", { method: "POST", body: JSON.stringify(chat) }));
await streamed.text();
const page = await GET(new Request("http://localhost/api/chat?id=ann"));
for (const { role, parts } of (await page.json()) as UIMessage[]) {
  console.log(`${role}: ${parts.map((part) => (part.type === "text" ? part.text : "")).join("")}`);
}

await varve.close();
rmSync(home, { recursive: true, force: true });

/** A stand-in that needs no key. */
function createRepeatingModel() {
  return new MockLanguageModelV4({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: "I will remember that." },
          { type: "text-end", id: "1" },
          {
            type: "finish",
            finishReason: { unified: "stop", raw: "stop" },
            usage: {
              inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: 4, text: 4, reasoning: 0 },
            },
          },
        ],
      }),
    }),
  });
}
