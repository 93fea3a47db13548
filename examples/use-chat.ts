/** A route for `useChat` of the AI SDK that remembers every message, for several people. Run: node examples/use-chat.ts */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertToModelMessages, streamText, type ToolSet, type UIMessage, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { openVarve, type Session } from "varve";
import { varveMiddleware, varveTools } from "varve/ai-sdk";

const home = mkdtempSync(join(tmpdir(), "varve-example-"));
const varve = await openVarve({ home });

/** In your program, a model of a provider: `openai("gpt-5")`, `anthropic("claude-sonnet-4-5")`. */
const model = createRepeatingModel();

/** The conversation of a chat: it belongs to the person, and the chat's id is only its name. */
function openChat(user: string, id: string): Promise<Session> {
  return varve.sessions.resolve({ channel: "web", peer: user, thread: { type: "thread", id } });
}

/** In your program, the user of the login's cookie or token that you have checked. Never a field that the page sends. */
function readUser(request: Request): string | undefined {
  return request.headers.get("x-user") || undefined;
}

/** POST /api/chat: the page sends all messages of the chat. */
async function POST(request: Request): Promise<Response> {
  const user = readUser(request);
  if (user === undefined) return new Response("Log in first.", { status: 401 });
  const { id, messages } = (await request.json()) as { id: string; messages: UIMessage[] };
  const session = await openChat(user, id);
  const remembering = wrapLanguageModel({ model, middleware: varveMiddleware({ varve, session }) });
  const tools = (await varveTools({ varve, session })) as ToolSet;
  const result = streamText({ model: remembering, tools, messages: await convertToModelMessages(messages) });
  return result.toUIMessageStreamResponse();
}

/** GET /api/chat?id=…: the messages for a page that is opened again. */
async function GET(request: Request): Promise<Response> {
  const user = readUser(request);
  if (user === undefined) return new Response("Log in first.", { status: 401 });
  const id = new URL(request.url).searchParams.get("id") ?? "";
  const session = await openChat(user, id);
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

/** What a page does: sends a text of the logged-in user, and waits for the answer. */
async function send(user: string | undefined, id: string, text: string): Promise<number> {
  const messages = [{ id: "1", role: "user", parts: [{ type: "text", text }] }];
  const headers = new Headers(user === undefined ? [] : [["x-user", user]]);
  const body = JSON.stringify({ id, messages });
  const answer = await POST(new Request("http://localhost/api/chat", { method: "POST", headers, body }));
  await answer.text();
  return answer.status;
}

async function show(user: string, id: string): Promise<void> {
  const page = await GET(new Request(`http://localhost/api/chat?id=${id}`, { headers: { "x-user": user } }));
  for (const { role, parts } of (await page.json()) as UIMessage[])
    console.log(`${user}, ${role}: ${parts.map((part) => (part.type === "text" ? part.text : "")).join("")}`);
}

/** Whether the model was told of the flight in its last request. */
const knowsFlight = () => JSON.stringify(model.doStreamCalls.at(-1)?.prompt).includes("Friday");

await send("ann", "chat-1", "Remember that my flight is on Friday.");
await show("ann", "chat-1");
// Facts are learned when a chat has been quiet for a while; here at once.
await varve.memory.extract(await openChat("ann", "chat-1"));
await send("ann", "chat-2", "When is my flight?");
console.log(`In another chat of Ann, the model knows: ${knowsFlight()}`);
// Bob has guessed the id of Ann's chat.
await send("bob", "chat-1", "When is my flight?");
console.log(`In a chat of Bob, the model knows: ${knowsFlight()}`);
await show("bob", "chat-1");
console.log(`Without a login: ${await send(undefined, "chat-1", "When is my flight?")}`);

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
