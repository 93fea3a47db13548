import type { Config } from "../../config/index.ts";
import { openChatModel, type ProviderSources } from "../../models/index.ts";
import type { Runner } from "./port.ts";

/** A model through the AI SDK. */
export function sdkRunner(
  name: string,
  sources: ProviderSources,
  { maxOutputTokens, temperature }: Config["turn"],
): Runner {
  const model = openChatModel(name, sources);
  return {
    name: "ai-sdk",
    model: name,
    get provider() {
      return model.provider;
    },
    takes: "messages",
    run: ({ system, messages, tools, signal, onText, onReasoning }) =>
      model.ask({ system, messages, tools, signal, onText, onReasoning, maxOutputTokens, temperature }),
  };
}
