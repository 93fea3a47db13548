import { VarveError } from "../../domain/index.ts";
import { listChatModels } from "../../models/index.ts";
import type { Session } from "../../session/index.ts";
import type { TurnHost } from "../host.ts";
import { sdkRunner } from "./ai-sdk.ts";
import { chatSources } from "./chat-sources.ts";
import { claudeRunner } from "./claude-cli.ts";
import { commandRunner } from "./command.ts";
import { offlineNote, offlineRunner } from "./offline.ts";
import type { Runner } from "./port.ts";

/** What answers in a session, the first choice first. */
export function chooseRunners(host: TurnHost, session: Session): Runner[] {
  const { config } = host;
  const { turn } = config;
  const offline = () => offlineRunner(host, offlineNote(config));
  switch (turn.runner) {
    case "claude-cli":
      return [claudeRunner(turn, (one) => host.mcpCommand(one), config.search.workspace ?? host.home)];
    case "command":
      return [commandRunner(turn)];
    case "offline":
      return [offline()];
    default: {
      const sources = chatSources(host, session);
      const names = [...new Set([...overrideOf(session), ...listChatModels(config.models, sources)])];
      if (names.length > 0) return names.map((name) => sdkRunner(name, sources, turn));
      if (turn.runner === "auto") return [offline()];
      throw new VarveError("BAD_CONFIG", "turn.runner is ai-sdk, and there is no model to ask.", {
        remedy:
          "Set models.chat, such as anthropic/claude-sonnet-4-5, and the provider's key; or set turn.runner to auto.",
      });
    }
  }
}

/** The model somebody chose for this session comes first. */
function overrideOf({ providerOverride, modelOverride }: Session): string[] {
  if (modelOverride === undefined) return [];
  if (modelOverride.includes("/") && providerOverride === undefined) return [modelOverride];
  return providerOverride === undefined ? [] : [`${providerOverride}/${modelOverride}`];
}
