import { type Message, VarveError } from "../../domain/index.ts";
import { loadPackage } from "../packages.ts";
import { type Access, type ProviderKind, type ProviderSources, resolveAccess } from "../providers.ts";
import { type SdkModel, sdkModel } from "../sdk.ts";
import { describeWarning } from "../warnings.ts";
import type { ChatAnswer, ChatModel, ChatRequest } from "./port.ts";
import { ReplyAssembler } from "./reply-assembler.ts";
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
  let known: Access | undefined;
  const access = (): Access => {
    known ??= resolveAccess(provider, sources);
    return known;
  };
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

/**
 * One call of a provider's own model. The SDK's functions above it run tools, keep telemetry and check what comes in a
 * second time; here the tools are run by whoever asks, and a reply is read once.
 */
async function askOnce(
  model: SdkModel,
  request: ChatRequest,
  from: { provider: string; model: string },
): Promise<ChatAnswer> {
  const { convertToLanguageModelPrompt } = await loadPackage("ai", () => import("ai/internal"));
  const { signal } = request;
  const notes: string[] = [];
  const said = new ReplyAssembler();
  let finish: { unified: string; raw: string | undefined } | undefined;
  let usage: ChatAnswer["usage"];
  try {
    const prompt = await convertToLanguageModelPrompt({
      prompt: { instructions: request.system, messages: toSdkMessages(request.messages) },
      supportedUrls: await model.supportedUrls,
      download: undefined,
      abortSignal: signal,
      provider: model.provider.split(".")[0],
    });
    const { stream } = await model.doStream({ prompt, ...callOptions(request) });
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "stream-start") notes.push(...part.warnings.map(describeWarning));
      else if (part.type === "text-delta") request.onText?.(part.delta);
      else if (part.type === "reasoning-delta") request.onReasoning?.(part.delta);
      else if (part.type === "finish") {
        finish = part.finishReason;
        usage = usageOf(part.usage.inputTokens.total, part.usage.outputTokens.total);
      }
      said.add(part);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
  // A stream that ends without its last word was cut, even if the connection was closed in good order.
  if (finish?.raw === undefined) throw cut("The answer was cut before its end.", true);
  if (finish.unified === "content-filter") throw cut("The provider's filter held the answer back.", false);
  const message: Message = said.message(from);
  if (message.content.length === 0) throw cut("The answer is empty.", true);
  if (finish.unified === "length") notes.push("The answer reached its bound and was cut there by the provider.");
  return { message, finishReason: finish.unified, notes, ...(usage ? { usage } : {}) };
}

function callOptions({ tools, maxOutputTokens, temperature, signal }: ChatRequest) {
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
    abortSignal: signal,
  };
}

function usageOf(inputTokens: number | undefined, outputTokens: number | undefined): ChatAnswer["usage"] {
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
}

function cut(message: string, retry: boolean): VarveError {
  return new VarveError("MODEL_FAILED", message, { details: { retry } });
}
