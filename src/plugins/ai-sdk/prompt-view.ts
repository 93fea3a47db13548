import type { JsonObject, Message } from "../../domain/index.ts";
import { estimateTokens, type Varve } from "../../index.ts";
import type { HostView, ViewRequest } from "../host-history/host-window.ts";
import type { SdkMessage } from "./sdk-messages.ts";
import type { CalledModel, CallParams, CallResult } from "./sdk-types.ts";

export type ModelName = Pick<CalledModel, "provider" | "modelId">;

/** The part of the budget that is used, since estimates are not exact. */
const safeShare = 0.95;
const answerTokensDefault = 4_096;
const answerShareMax = 0.25;

/** The room for messages in the window of a model. */
export function createRequest(
  { windowTokens }: { windowTokens?: number },
  { settings }: Varve,
  params: CallParams,
  system: readonly SdkMessage[],
  { provider, modelId }: ModelName,
): ViewRequest {
  const window = windowTokens ?? settings.config.context.windowTokens;
  const answer = Math.min(params.maxOutputTokens ?? answerTokensDefault, Math.floor(window * answerShareMax));
  const fixed = estimateTokens(JSON.stringify([system, params.tools ?? []]));
  const budgetTokens = Math.max(0, Math.floor((window - answer) * safeShare) - fixed);
  return { budgetTokens, windowTokens: window, model: `${provider.split(".")[0]}/${modelId}` };
}

/** The caller's parameters with the messages of a view. */
export function applyView(params: CallParams, system: readonly SdkMessage[], view: HostView<SdkMessage>): CallParams {
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

/** Facts that are stored with a reply. */
export function createFacts(
  { provider, modelId }: ModelName,
  { usage, finishReason }: Omit<CallResult, "content">,
): Partial<Message> {
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

/** The tokens of the prompt that the provider counted. */
export function readObserved(usage: unknown): { observedTokens?: number } {
  const input = (usage as { inputTokens?: number | { total?: number } } | undefined)?.inputTokens;
  const tokens = typeof input === "object" ? input?.total : input;
  return tokens === undefined ? {} : { observedTokens: tokens };
}
