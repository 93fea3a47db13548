import { type Message, VarveError } from "../../domain/index.ts";
import { type Access, type ProviderKind, type ProviderSources, resolveAccess } from "../providers.ts";
import { describeWarning, getSdkModel, type SdkModel } from "../sdk.ts";
import type { ChatAnswer, ChatModel, ChatRequest } from "./port.ts";
import { ReplyAssembler } from "./reply-assembler.ts";
import { toSdkPrompt } from "./sdk-prompt.ts";

/** A chat model of the AI SDK by its name, `provider/model`. */
export function openChatModel(name: string, sources: ProviderSources): ChatModel {
  const slash = name.indexOf("/");
  if (slash < 1 || slash === name.length - 1) {
    throw new VarveError("BAD_CONFIG", `${name} is not the name of a model.`, {
      remedy: "Write provider/model, such as anthropic/claude-sonnet-4-5.",
    });
  }
  const [provider, model] = [name.slice(0, slash), name.slice(slash + 1)];
  let known: Access | undefined;
  const access = (): Access => {
    known ??= resolveAccess(provider, sources);
    return known;
  };
  return {
    name,
    get provider() {
      return toHygieneProvider(access().kind);
    },
    ask: async (request) => callModel(await getSdkModel(access(), model), request, { provider, model }),
  };
}

function toHygieneProvider(kind: ProviderKind): ChatModel["provider"] {
  return kind === "ollama" ? "openai-compatible" : kind;
}

/**
 * Calls the provider's model directly. The SDK's higher-level functions run tools, add telemetry and validate input
 * again; here the caller runs the tools.
 */
async function callModel(
  model: SdkModel,
  request: ChatRequest,
  from: { provider: string; model: string },
): Promise<ChatAnswer> {
  const { signal } = request;
  const notes: string[] = [];
  const reply = new ReplyAssembler();
  let finish: { unified: string; raw: string | undefined } | undefined;
  let usage: ChatAnswer["usage"];
  try {
    const prompt = await toSdkPrompt(request, model, signal);
    const { stream } = await model.doStream({ prompt, ...toCallOptions(request) });
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "stream-start") notes.push(...part.warnings.map(describeWarning));
      else if (part.type === "text-delta") request.onText?.(part.delta);
      else if (part.type === "reasoning-delta") request.onReasoning?.(part.delta);
      else if (part.type === "finish") {
        finish = part.finishReason;
        const { total, cacheRead } = part.usage.inputTokens;
        usage = toUsage(total, part.usage.outputTokens.total, cacheRead);
      }
      reply.add(part);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  // A stream without a finish reason was interrupted, even if the connection closed normally.
  if (finish?.raw === undefined) throw uselessAnswerError("The answer was interrupted.", true);
  if (finish.unified === "content-filter")
    throw uselessAnswerError("The provider's content filter blocked the answer.", false);
  const message: Message = reply.toMessage(from);
  if (message.content.length === 0) throw uselessAnswerError("The answer is empty.", true);
  if (finish.unified === "length") notes.push("The answer reached its length limit and was truncated by the provider.");
  return { message, finishReason: finish.unified, notes, ...(usage ? { usage } : {}) };
}

function toCallOptions({ tools, maxOutputTokens, temperature, thinking, cacheKey, signal }: ChatRequest) {
  const offered = tools.map(({ name, description, input }) => ({
    type: "function" as const,
    name,
    description,
    inputSchema: input,
  }));
  return {
    ...(offered.length === 0 ? {} : { tools: offered, toolChoice: { type: "auto" as const } }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(thinking === undefined ? {} : { reasoning: thinking }),
    // OpenAI caches by itself, and finds the prompts of one conversation by this key. Others ignore it.
    ...(cacheKey === undefined ? {} : { providerOptions: { openai: { promptCacheKey: cacheKey } } }),
    abortSignal: signal,
  };
}

function toUsage(
  inputTokens: number | undefined,
  outputTokens: number | undefined,
  cachedInputTokens: number | undefined,
): ChatAnswer["usage"] {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const cached = cachedInputTokens === undefined || cachedInputTokens === 0 ? {} : { cachedInputTokens };
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0, ...cached };
}

function uselessAnswerError(message: string, retry: boolean): VarveError {
  return new VarveError("MODEL_FAILED", message, { details: { retry } });
}
