import { estimateTokens } from "../../index.ts";
import { HostWindow } from "../host-history/host-window.ts";
import type { VarveMiddlewareOptions } from "./middleware.ts";
import { type SdkMessage, sdkFormat } from "./sdk-messages.ts";
import type { StepOptions } from "./sdk-types.ts";

export interface PrepareStepOptions extends VarveMiddlewareOptions {
  /** Tokens for what `prepareStep` does not see: the answer and the definitions of the tools. */
  reserveTokens?: number;
}

const reserveShare = 0.25;
const reserveTokensMax = 8_000;

/**
 * For `prepareStep` of `generateText`, `streamText` and agents: the messages of each step fit the model's window, and
 * all of them are stored. Use it instead of the middleware when the steps themselves should see the shorter messages.
 *
 * @example
 * await generateText({ model, tools, prompt, stopWhen: stepCountIs(200), prepareStep: varvePrepareStep({ varve, session }) });
 */
export function varvePrepareStep(
  options: PrepareStepOptions,
): (step: unknown) => Promise<{ messages?: never; instructions?: never; system?: never }> {
  const { varve, onError = () => undefined } = options;
  const window = new HostWindow({ ...options, format: sdkFormat, sent: options.messages });
  const windowTokens = options.windowTokens ?? varve.settings.config.context.windowTokens;
  const reserveTokens = options.reserveTokens ?? Math.min(reserveTokensMax, Math.floor(windowTokens * reserveShare));
  const prepare = async (step: StepOptions): Promise<{ messages?: SdkMessage[] }> => {
    const all = listMessages(step);
    const system = all.filter(({ role }) => role === "system");
    const sent = all.filter(({ role }) => role !== "system");
    const fixedTokens = estimateTokens(JSON.stringify([system, step.instructions ?? ""]));
    try {
      const view = await window.open(sent, { budgetTokens: windowTokens - reserveTokens - fixedTokens, windowTokens });
      const addition = view.systemPromptAddition;
      // Step functions cannot add to the instructions without replacing them, so the explanation comes with the messages.
      const explained =
        addition === undefined ? [] : [{ role: "user", content: `<context-note>\n${addition}\n</context-note>` }];
      return { messages: [...system, ...explained, ...view.messages] };
    } catch (error) {
      onError(error);
      return {};
    }
  };
  return prepare as unknown as ReturnType<typeof varvePrepareStep>;
}

/** The conversation as it is without earlier changes: version 7 carries the messages of a step forward to the next. */
function listMessages(step: StepOptions): SdkMessage[] {
  if (step.initialMessages === undefined) return step.messages;
  return [...step.initialMessages, ...(step.responseMessages ?? []), ...(step.experimental_steeringMessages ?? [])];
}
