import type { JsonObject, Message } from "../../domain/index.ts";
import { estimateTokens, type Session, type Varve } from "../../index.ts";
import type { SentHistory } from "../host-history/history-recorder.ts";
import { type HostView, HostWindow, type ViewRequest } from "../host-history/host-window.ts";
import { type ReplyPart, StreamedReply, toReplyMessage } from "./reply.ts";
import { type SdkMessage, sdkFormat } from "./sdk-messages.ts";
import type { CalledModel, CallParams, CallResult, StreamResult, VarveMiddleware } from "./sdk-types.ts";

export interface VarveMiddlewareOptions {
  varve: Varve;
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

/** The part of the budget that is used, since estimates are not exact. */
const safeShare = 0.95;
const answerTokensDefault = 4_096;
const answerShareMax = 0.25;

/**
 * Stores every message of the calls to a model in a session, and sends what fits its window: summaries of older messages
 * instead of an error, and what is remembered about the newest request.
 *
 * @example
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

function createRequest(
  { windowTokens }: VarveMiddlewareOptions,
  { settings }: Varve,
  params: CallParams,
  system: readonly SdkMessage[],
  { provider, modelId }: CalledModel,
): ViewRequest {
  const window = windowTokens ?? settings.config.context.windowTokens;
  const answer = Math.min(params.maxOutputTokens ?? answerTokensDefault, Math.floor(window * answerShareMax));
  const fixed = estimateTokens(JSON.stringify([system, params.tools ?? []]));
  const budgetTokens = Math.max(0, Math.floor((window - answer) * safeShare) - fixed);
  return { budgetTokens, windowTokens: window, model: `${provider.split(".")[0]}/${modelId}` };
}

/** The caller's parameters with the messages of a view. */
function applyView(params: CallParams, system: readonly SdkMessage[], view: HostView<SdkMessage>): CallParams {
  const { messages } = view;
  const addition = hasRecallTools(params) ? view.systemPromptAddition : keepFirstParagraph(view.systemPromptAddition);
  const head = [...system];
  if (addition !== undefined) {
    const last = head.pop();
    head.push(
      last ? { ...last, content: `${String(last.content)}\n\n${addition}` } : { role: "system", content: addition },
    );
  }
  return { ...params, prompt: [...head, ...messages.map(toPromptMessage)] };
}

function hasRecallTools({ tools }: CallParams): boolean {
  return Array.isArray(tools) && tools.some((tool: { name?: unknown }) => tool.name === "lcm_grep");
}

/** The first paragraph explains the summaries; the lines after it are about tools. */
function keepFirstParagraph(addition: string | undefined): string | undefined {
  return addition?.split("\n- ")[0];
}

/** In the prompt of a model, content is always a list. */
function toPromptMessage(message: SdkMessage): SdkMessage {
  return typeof message.content === "string"
    ? { ...message, content: [{ type: "text", text: message.content }] }
    : message;
}

function createFacts({ provider, modelId }: CalledModel, { usage, finishReason }: CallResult): Partial<Message> {
  return {
    provider: provider.split(".")[0],
    model: modelId,
    ...(usage === undefined ? {} : { usage: JSON.parse(JSON.stringify(usage)) as JsonObject }),
    ...(finishReason === undefined ? {} : { stopReason: readReason(finishReason) }),
  };
}

/** Version 6 has texts and numbers where version 7 has objects with details. */
function readReason(reason: unknown): string {
  return typeof reason === "object" && reason !== null && "unified" in reason ? String(reason.unified) : String(reason);
}

function readObserved(usage: unknown): { observedTokens?: number } {
  const input = (usage as { inputTokens?: number | { total?: number } } | undefined)?.inputTokens;
  const tokens = typeof input === "object" ? input?.total : input;
  return tokens === undefined ? {} : { observedTokens: tokens };
}
