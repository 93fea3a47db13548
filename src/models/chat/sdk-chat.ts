import type { jsonSchema, ModelMessage, ToolSet } from "ai";
import { type JsonObject, type JsonValue, type Message, type Part, VarveError } from "../../domain/index.ts";
import { loadPackage } from "../packages.ts";
import { accessOf, type ProviderKind, type ProviderSources } from "../providers.ts";
import { sdkModel } from "../sdk.ts";
import { warningsInto } from "../warnings.ts";
import type { ChatAnswer, ChatModel, ChatRequest, ChatTool } from "./port.ts";
import { toSdkMessages } from "./to-sdk.ts";

/** A model of the AI SDK that talks, by its name, `provider/model`. */
export function chatModel(name: string, sources: ProviderSources): ChatModel {
  const slash = name.indexOf("/");
  if (slash < 1 || slash === name.length - 1) {
    throw new VarveError("BAD_CONFIG", `${name} does not name a model.`, {
      remedy: "Write provider/model, such as anthropic/claude-sonnet-4-5.",
    });
  }
  const [provider, model] = [name.slice(0, slash), name.slice(slash + 1)];
  const access = () => accessOf(provider, sources);
  return {
    name,
    get provider() {
      return wireOf(access().kind);
    },
    ask: async (request) => askOnce(await sdkModel(access(), model), request, { provider, model }),
  };
}

function wireOf(kind: ProviderKind): ChatModel["provider"] {
  return kind === "ollama" ? "openai-compatible" : kind;
}

type SdkModel = Awaited<ReturnType<typeof sdkModel>>;

async function askOnce(
  model: SdkModel,
  request: ChatRequest,
  from: { provider: string; model: string },
): Promise<ChatAnswer> {
  const sdk = await loadPackage("ai", () => import("ai"));
  const notes: string[] = [];
  const result = sdk.streamText({
    model: sdk.wrapLanguageModel({ model, middleware: warningsInto(notes) }),
    instructions: request.system,
    messages: toSdkMessages(request.messages),
    tools: toolSet(request.tools, sdk.jsonSchema),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    maxRetries: 0,
    abortSignal: request.signal,
    onError: () => undefined,
  });
  let finish: { finishReason: string; rawFinishReason: string | undefined } | undefined;
  for await (const part of result.stream) {
    if (part.type === "error") throw part.error;
    if (part.type === "abort") throw request.signal?.reason ?? new DOMException("stopped", "AbortError");
    if (part.type === "text-delta") request.onText?.(part.text);
    else if (part.type === "reasoning-delta") request.onReasoning?.(part.text);
    else if (part.type === "finish") finish = part;
  }
  // A stream that ends without its last word was cut, even if the connection was closed in good order.
  if (finish === undefined || finish.rawFinishReason === undefined)
    throw cut("The answer was cut before its end.", true);
  if (finish.finishReason === "content-filter") throw cut("The provider's filter held the answer back.", false);
  const message = messageOf(await result.responseMessages, from);
  if (message.content.length === 0) throw cut("The answer is empty.", true);
  if (finish.finishReason === "length") notes.push("The answer reached its bound and was cut there by the provider.");
  const { inputTokens, outputTokens } = await result.totalUsage;
  const usage = { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
  const isCounted = inputTokens !== undefined || outputTokens !== undefined;
  return { message, finishReason: finish.finishReason, notes, ...(isCounted ? { usage } : {}) };
}

function toolSet(tools: readonly ChatTool[], schema: typeof jsonSchema): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, input }) => [name, { description, inputSchema: schema(input as never) }]),
  );
}

function cut(message: string, retry: boolean): VarveError {
  return new VarveError("MODEL_FAILED", message, { details: { retry } });
}

/** What the model said as a message of the log. What its provider signed is kept beside it, for that provider. */
function messageOf(responses: readonly ModelMessage[], from: { provider: string; model: string }): Message {
  const parts: Part[] = [];
  const signed: JsonObject = {};
  for (const response of responses) {
    if (response.role !== "assistant") continue;
    const content =
      typeof response.content === "string" ? [{ type: "text" as const, text: response.content }] : response.content;
    for (const part of content) {
      const options = "providerOptions" in part ? (part.providerOptions as JsonValue | undefined) : undefined;
      if (part.type === "text") {
        if (part.text !== "") parts.push({ type: "text", text: part.text });
      } else if (part.type === "reasoning") {
        parts.push(reasoningOf(part.text, options));
        if (options !== undefined && !isAnthropic(options)) signed[`reasoning ${part.text}`] = options;
      } else if (part.type === "tool-call") {
        const { toolCallId: callId, toolName: name } = part;
        parts.push({ type: "tool_call", callId, name, input: (part.input ?? {}) as JsonValue });
        if (options !== undefined) signed[callId] = options;
      }
    }
  }
  const meta = Object.keys(signed).length > 0 ? { meta: { providerOptions: signed } } : {};
  return { role: "assistant", content: parts, ...from, ...meta };
}

function isAnthropic(options: JsonValue): options is { anthropic: JsonObject } {
  return typeof options === "object" && options !== null && "anthropic" in options;
}

function reasoningOf(text: string, options: JsonValue | undefined): Part {
  if (options === undefined || !isAnthropic(options)) return { type: "reasoning", text };
  const { signature, redactedData } = options.anthropic as { signature?: string; redactedData?: string };
  return {
    type: "reasoning",
    text,
    ...(signature === undefined ? {} : { signature }),
    ...(redactedData === undefined ? {} : { encrypted: redactedData }),
  };
}
