import { createHash } from "node:crypto";
import type { Config } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import { checkProfile, listChatModels, openChatModel, type ProviderSources } from "../../models/index.ts";
import type { Session } from "../../session/index.ts";
import type { TurnServices } from "../turn.ts";
import { claudeRunner } from "./claude-cli.ts";
import { commandRunner } from "./command.ts";
import { offlineNote, offlineRunner } from "./offline.ts";
import type { Runner } from "./port.ts";

/** The runners for a session, the first choice first. */
export function chooseRunners(services: TurnServices, session: Session): Runner[] {
  const { config } = services;
  const { turn } = config;
  const offline = () => offlineRunner(services, offlineNote(config));
  switch (turn.runner) {
    case "claude-cli":
      return [claudeRunner(turn, (one) => mcpCommand(services, one), config.search.workspace ?? services.home)];
    case "command":
      return [commandRunner(turn)];
    case "offline":
      return [offline()];
    default: {
      const sources = chatSources(services, session);
      const names = [...new Set([...listOverride(session), ...listChatModels(config.models, sources)])];
      if (names.length > 0) return names.map((name) => sdkRunner(name, sources, turn));
      if (turn.runner === "auto") return [offline()];
      throw new VarveError("BAD_CONFIG", "turn.runner is ai-sdk, and there is no model to ask.", {
        remedy:
          "Set models.chat, such as anthropic/claude-sonnet-4-5, and the provider's key; or set turn.runner to auto.",
      });
    }
  }
}

/** The model that was chosen for this session. */
function listOverride({ providerOverride, modelOverride }: Session): string[] {
  if (modelOverride === undefined) return [];
  if (modelOverride.includes("/") && providerOverride === undefined) return [modelOverride];
  return providerOverride === undefined ? [] : [`${providerOverride}/${modelOverride}`];
}

/** How an agent program starts the MCP server of a session. */
function mcpCommand({ config, home, mcpProgram }: TurnServices, { key, agent }: Session) {
  return {
    command: process.execPath,
    args: [mcpProgram, "mcp", "--session", key, "--agent", agent],
    env: { VARVE_HOME: home, VARVE_DATABASE: config.database },
  };
}

/** Where the models of a session find their keys: the profile that was chosen for it comes first. */
export function chatSources(
  { config, home }: TurnServices,
  { authProfileOverride: profile }: Session,
): ProviderSources {
  const { providers, auth } = config.models;
  if (profile !== undefined) checkProfile(auth, profile);
  return { providers, auth, env: process.env, home, ...(profile === undefined ? {} : { profile }) };
}

/** A model through the AI SDK. */
function sdkRunner(name: string, sources: ProviderSources, { maxOutputTokens, temperature }: Config["turn"]): Runner {
  const model = openChatModel(name, sources);
  return {
    name: "ai-sdk",
    model: name,
    get provider() {
      return model.provider;
    },
    takes: "messages",
    run: ({ session, asked: _asked, prompt: _prompt, ...request }) =>
      model.ask({ ...request, maxOutputTokens, temperature, cacheKey: createCacheKey(session) }),
  };
}

/** The same for all prompts of a session; it tells the provider nothing about it. */
function createCacheKey({ agent, key, sessionId }: Session): string {
  return `varve-${createHash("sha256").update(`${agent}\n${key}\n${sessionId}`).digest("hex").slice(0, 24)}`;
}
