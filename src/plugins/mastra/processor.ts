import { isContextOverflow, type Session, type Varve, VarveError } from "../../index.ts";
import { applyView, createFacts, createRequest, type ModelName, readObserved } from "../ai-sdk/prompt-view.ts";
import { toReplyMessage } from "../ai-sdk/reply.ts";
import { type SdkMessage, sdkFormat } from "../ai-sdk/sdk-messages.ts";
import type { SentHistory } from "../host-history/history-recorder.ts";
import { HostWindow, overflowAttempts, type ViewRequest } from "../host-history/host-window.ts";
import { type ReplyChunk, readReply } from "./reply-chunks.ts";

/** The context of a run: values that the program gave to `generate` or `stream`. */
export interface RunContext {
  get(name: string): unknown;
}

export interface ProcessorOptions {
  varve: Varve;
  /**
   * The session of a run, or a function that finds it by the `requestContext` of the run. When the function throws or
   * finds none, because nobody is logged in for example, the run goes on without a memory.
   */
  session: Session | ((context: RunContext | undefined) => Session | Promise<Session>);
  /** The context window of the model; the setting `context.windowTokens` when absent. */
  windowTokens?: number;
  /**
   * Whether runs bring only what is new, and Varve the rest (`new`, the default), or the whole conversation (`all`, for
   * programs that keep it themselves).
   */
  messages?: SentHistory;
  /** Called when the memory fails: the model then gets the messages of the run, and the run goes on. */
  onError?(error: unknown): void;
}

/** An input processor and an error processor of Mastra. */
export interface VarveProcessor {
  readonly id: "varve";
  readonly name: "Varve";
  processLLMRequest(args: unknown): Promise<never>;
  processLLMResponse(args: unknown): Promise<never>;
  processAPIError(args: unknown): Promise<never>;
}

/** The state of a run between its steps; Mastra keeps it with the run. */
interface Run {
  session: Session;
  window: HostWindow<SdkMessage>;
  /** The messages of the last request, and how they were sent. */
  last?: { sent: readonly SdkMessage[]; request: ViewRequest };
  /** The error of a prompt that was refused as too long, and how often that happened. */
  refused?: { error: unknown; attempt: number };
}

interface StepArgs {
  state: { varve?: Run };
  model: ModelName;
  requestContext?: RunContext;
}

/**
 * Gives an agent of Mastra a memory: every message of its runs is stored in a session, and the model gets what fits its
 * window: the conversation so far, with summaries of what is older, and what is remembered about the newest request.
 *
 * @example
 * const session = (context) => varve.sessions.resolve({ channel: "app", peer: context.get("user") });
 * const memory = varveProcessor({ varve, session });
 * new Agent({ id, name, instructions, model, inputProcessors: [memory], errorProcessors: [memory] });
 */
export function varveProcessor(options: ProcessorOptions): VarveProcessor {
  const { varve, onError = () => undefined } = options;
  const open = async ({ state, requestContext }: StepArgs): Promise<Run> => {
    if (state.varve) return state.varve;
    const session = typeof options.session === "function" ? await options.session(requestContext) : options.session;
    if (!session) {
      throw new VarveError("BAD_REQUEST", "The session of the run was not found.", {
        remedy: "Return the session of the person who speaks from `session`, by the requestContext of the run.",
      });
    }
    const window = new HostWindow({ varve, session, format: sdkFormat, sent: options.messages ?? "new" });
    state.varve = { session, window };
    return state.varve;
  };
  const processor = {
    id: "varve",
    name: "Varve",
    async processLLMRequest(args: StepArgs & { prompt: SdkMessage[] }): Promise<{ prompt: SdkMessage[] }> {
      const { prompt, model } = args;
      const system = prompt.filter(({ role }) => role === "system");
      const sent = prompt.filter(({ role }) => role !== "system");
      const params = { prompt };
      const request = createRequest(options, varve, params, system, model);
      try {
        const run = await open(args);
        run.last = { sent, request };
        const { refused } = run;
        const smaller = refused && (await run.window.shrink(sent, request, refused.error, refused.attempt));
        return { prompt: applyView(params, system, smaller ?? (await run.window.open(sent, request))).prompt };
      } catch (error) {
        onError(error);
        return { prompt };
      }
    },
    async processLLMResponse({ state, chunks, model }: StepArgs & { chunks: ReplyChunk[] }): Promise<void> {
      const run = state.varve;
      const result = readReply(chunks);
      const reply = result && toReplyMessage(result.content);
      if (!run?.last || !reply) return;
      delete run.refused;
      try {
        await run.window.close(run.last.sent, reply, createFacts(model, result));
        const isOpen = result.content.some(({ type }) => type === "tool-call");
        if (!isOpen) await varve.context.afterTurn(run.session, { ...run.last.request, ...readObserved(result.usage) });
      } catch (error) {
        onError(error);
      }
    },
    /** A prompt that the provider refuses as too long is sent again, shorter. */
    async processAPIError({ state, error }: StepArgs & { error: unknown }): Promise<{ retry: boolean }> {
      const run = state.varve;
      const attempt = run?.refused ? run.refused.attempt + 1 : 0;
      if (!run?.last || attempt >= overflowAttempts || !isContextOverflow(error)) return { retry: false };
      run.refused = { error, attempt };
      return { retry: true };
    },
  };
  return processor as unknown as VarveProcessor;
}
