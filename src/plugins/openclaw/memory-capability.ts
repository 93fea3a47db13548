import type { SearchResult, Varve } from "../../index.ts";
import { openToolbox } from "../../tools/index.ts";
import { describeError } from "./context-engine.ts";
import type {
  FlushPlan,
  HostLogger,
  MemoryCapability,
  MemorySearchHit,
  MemorySearchManager,
  PromptSectionParams,
} from "./host-types.ts";
import type { PluginSettings } from "./plugin-settings.ts";
import { findKeyedSession, resolveKeyedPrincipal } from "./recorded-sessions.ts";
import { openSharedEngine } from "./shared-engine.ts";

const resultsDefault = 6;

/** The memory slot of OpenClaw: search for its own callers, guidance in the prompt, and the flush before compactions. */
export function createMemoryCapability(settings: PluginSettings, logger: HostLogger): MemoryCapability {
  return {
    promptBuilder: buildPromptSection,
    flushPlanResolver: ({ nowMs, contextWindowTokens }) =>
      settings.memoryFlush ? createFlushPlan(nowMs ?? Date.now(), contextWindowTokens) : null,
    deterministicRecallToolName: "memory_search",
    runtime: {
      async getMemorySearchManager({ agentId }) {
        try {
          return { manager: createSearchManager(await openSharedEngine(settings), agentId.toLowerCase()) };
        } catch (error) {
          return { manager: null, error: describeError(error) };
        }
      },
      resolveMemoryBackendConfig: () => ({ backend: "builtin" }),
      async authorizeSearchHits({ agentId, requesterSessionKey, hits }) {
        const varve = await openSharedEngine(settings);
        const checked = await Promise.all(
          hits.map(async (hit) => {
            if (hit.source !== "sessions") return hit;
            const isOpen = await canOpen(varve, agentId.toLowerCase(), requesterSessionKey, hit, logger);
            return isOpen ? hit : undefined;
          }),
        );
        return checked.filter((hit) => hit !== undefined);
      },
    },
  };
}

function buildPromptSection({ availableTools, citationsMode }: PromptSectionParams): string[] {
  if (!availableTools.has("memory_search")) return [];
  const has = (name: string) => availableTools.has(name);
  return [
    "## Memory",
    "Everything said in earlier conversations is stored word for word, with facts that were extracted from it. Before " +
      "you answer a question about earlier work, decisions, dates, people or preferences that is not in view, call " +
      "memory_search; memory_get opens a citation.",
    ...(has("lcm_grep") ? ["For exact words or numbers of this conversation, use lcm_grep."] : []),
    ...(has("memory_store") ? ["When the person asks you to remember something, call memory_store."] : []),
    ...(citationsMode === "off" ? [] : ["Name the citation (such as msg#12) when you quote from memory."]),
    "",
  ];
}

/** A turn in which the model stores lasting facts before older messages leave its view. Nothing depends on it. */
function createFlushPlan(nowMs: number, contextWindowTokens = 128_000): FlushPlan {
  const day = new Date(nowMs).toISOString().slice(0, 10);
  return {
    softThresholdTokens: Math.min(4_000, Math.floor(contextWindowTokens / 16)),
    forceFlushTranscriptBytes: 2 * 1024 * 1024,
    reserveTokensFloor: Math.min(20_000, Math.floor(contextWindowTokens / 4)),
    relativePath: `memory/${day}.md`,
    systemPrompt: "This is a silent turn before older messages leave the view.",
    prompt:
      "Store each lasting fact of this conversation that memory does not have yet with memory_store, one sentence " +
      "each. Reply with NO_REPLY.",
  };
}

function createSearchManager(varve: Varve, agent: string): MemorySearchManager {
  return {
    async search(query, options = {}) {
      const { maxResults = resultsDefault, minScore, sessionKey, sources, signal } = options;
      const principal = await resolveKeyedPrincipal(varve, sessionKey, agent);
      const { results } = await varve.search.find(query, {
        agent,
        limit: maxResults,
        ...(minScore === undefined ? {} : { minScore }),
        principal,
        ...(signal === undefined ? {} : { signal }),
        ...(sources === undefined ? {} : { kinds: selectKinds(sources) }),
      });
      return results.map(toHit);
    },
    async readFile({ relPath, from, lines }) {
      const tool = openToolbox(varve, { agent }).find("memory_get");
      try {
        const opened = await tool?.run({
          path: relPath,
          ...(from === undefined ? {} : { from }),
          ...(lines === undefined ? {} : { lines }),
        });
        return { status: "ok", text: opened?.markdown ?? "", path: relPath };
      } catch (error) {
        if (isNotFound(error)) return { status: "not_found", text: "", path: relPath };
        throw error;
      }
    },
    status: () => ({
      backend: "builtin",
      provider: "varve",
      dbPath: varve.settings.config.database,
      sources: ["memory", "sessions"],
      fts: { enabled: true, available: true },
    }),
    probeEmbeddingAvailability: async () =>
      varve.settings.config.search.embedder === "none"
        ? { ok: false, error: "search.embedder is none in Varve's settings" }
        : { ok: true },
    probeVectorAvailability: async () => varve.settings.config.search.embedder !== "none",
    close: async () => undefined,
  };
}

function selectKinds(sources: readonly string[]): SearchResult["kind"][] {
  return [
    ...(sources.includes("memory") ? (["memory", "chunk"] as const) : []),
    ...(sources.includes("sessions") ? (["message", "summary", "file"] as const) : []),
  ];
}

/** A hit names what it found by its citation, and notes by their path and lines. */
function toHit({ kind, citation, score, snippet }: SearchResult): MemorySearchHit {
  const [, path, start, end] = /^(.*)#L(\d+)(?:-L(\d+))?$/.exec(citation) ?? [];
  return {
    path: path ?? citation,
    startLine: Number(start ?? 1),
    endLine: Number(end ?? start ?? 1),
    score,
    snippet,
    source: kind === "memory" || kind === "chunk" ? "memory" : "sessions",
    citation,
  };
}

/** Whether the session that asks may open a hit: it is opened as the session's own tool would. */
async function canOpen(
  varve: Varve,
  agent: string,
  sessionKey: string | undefined,
  { citation, path }: MemorySearchHit,
  logger: HostLogger,
): Promise<boolean> {
  const session = await findKeyedSession(varve, sessionKey, agent);
  const place =
    session === undefined ? { principal: await resolveKeyedPrincipal(varve, sessionKey, agent) } : { session };
  const tool = openToolbox(varve, { agent, ...place }).find("memory_get");
  try {
    await tool?.run({ path: citation ?? path });
    return true;
  } catch (error) {
    if (!isNotFound(error)) logger.warn(`[varve] ${citation ?? path} was withheld: ${describeError(error)}`);
    return false;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).endsWith("NOT_FOUND");
}
