import type { Session, Varve } from "../../index.ts";
import type { SentHistory } from "../host-history/history-recorder.ts";
import { HostWindow, type ViewRequest } from "../host-history/host-window.ts";
import { applyView, createFacts, createRequest, readObserved } from "./prompt-view.ts";
import { type ReplyPart, StreamedReply, toReplyMessage } from "./reply.ts";
import { type SdkMessage, sdkFormat } from "./sdk-messages.ts";
import type { CalledModel, CallParams, CallResult, StreamResult, VarveMiddleware } from "./sdk-types.ts";

export interface VarveMiddlewareOptions {
  varve: Varve;
  /** The conversation of the person who speaks: what is recalled is theirs. */
  session: Session;
  /** The context window of the model; the setting `context.windowTokens` when absent. */
  windowTokens?: number;
  /** Whether prompts have the whole conversation (`all`, the default) or only what is new (`new`). */
  messages?: SentHistory;
  /** Called when the memory fails: the model then gets the caller's own messages, and the call goes on. */
  onError?(error: unknown): void;
}

/** A call on its way: the caller's messages, and how they were sent. */
interface Call {
  sent: readonly SdkMessage[];
  system: readonly SdkMessage[];
  params: CallParams;
  request: ViewRequest;
}

/**
 * Stores every message of the calls to a model in a session, and sends what fits its window: summaries of older messages
 * instead of an error, and what is remembered about the newest request.
 *
 * @example
 * const session = await varve.sessions.resolve({
 *   channel: "app",
 *   peer: user.id,
 *   thread: { type: "thread", id: chatId },
 * });
 * const model = wrapLanguageModel({ model: openai("gpt-5"), middleware: varveMiddleware({ varve, session }) });
 */
export function varveMiddleware(options: VarveMiddlewareOptions): VarveMiddleware {
  const { varve, onError = () => undefined } = options;
  const window = new HostWindow({ ...options, format: sdkFormat, sent: options.messages });
  const calls = new WeakMap<CallParams, Call>();

  const transformParams = async ({
    params,
    model,
  }: {
    params: CallParams;
    model: CalledModel;
  }): Promise<CallParams> => {
    const system = params.prompt.filter(({ role }) => role === "system");
    const sent = params.prompt.filter(({ role }) => role !== "system");
    const request = createRequest(options, varve, params, system, model);
    try {
      const view = await window.open(sent, request);
      const changed = applyView(params, system, view);
      calls.set(changed, { sent, system, params, request });
      return changed;
    } catch (error) {
      onError(error);
      return params;
    }
  };

  /** Calls the model, again with a smaller view while it refuses the prompt as too long. */
  const callFitting = async <R>(
    params: CallParams,
    first: () => PromiseLike<R>,
    next: (params: CallParams) => PromiseLike<R>,
  ): Promise<R> => {
    const call = calls.get(params);
    let run = first;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await run();
      } catch (error) {
        const view = call && (await window.shrink(call.sent, call.request, error, attempt).catch(() => undefined));
        if (!call || !view) throw error;
        const smaller = applyView(call.params, call.system, view);
        run = () => next(smaller);
      }
    }
  };

  const store = async (params: CallParams, model: CalledModel, result: CallResult): Promise<void> => {
    const call = calls.get(params);
    const reply = toReplyMessage(result.content);
    if (!call || !reply) return;
    try {
      await window.close(call.sent, reply, createFacts(model, result));
      const isOpen = result.content.some(({ type }) => type === "tool-call");
      if (!isOpen) await varve.context.afterTurn(options.session, { ...call.request, ...readObserved(result.usage) });
    } catch (error) {
      onError(error);
    }
  };

  const wrapGenerate = async ({ doGenerate, params, model }: GenerateOptions): Promise<CallResult> => {
    const result = await callFitting(params, doGenerate, (smaller) => model.doGenerate(smaller));
    await store(params, model, result);
    return result;
  };

  const wrapStream = async ({ doStream, params, model }: StreamOptions): Promise<StreamResult> => {
    const result = await callFitting(params, doStream, (smaller) => model.doStream(smaller));
    const reply = new StreamedReply();
    const collected = result.stream.pipeThrough(
      new TransformStream<ReplyPart, ReplyPart>({
        transform(part, controller) {
          reply.take(part);
          controller.enqueue(part);
        },
        flush: () => store(params, model, { ...reply, content: [...reply.content] }),
      }),
    );
    return { ...result, stream: collected };
  };

  return { specificationVersion: "v4", transformParams, wrapGenerate, wrapStream } as unknown as VarveMiddleware;
}

interface GenerateOptions {
  doGenerate(): PromiseLike<CallResult>;
  params: CallParams;
  model: CalledModel;
}

interface StreamOptions {
  doStream(): PromiseLike<StreamResult>;
  params: CallParams;
  model: CalledModel;
}
