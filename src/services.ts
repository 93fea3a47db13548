import { join } from "node:path";
import { runAsEngine } from "./authorization/index.ts";
import { backupFolder, type LoadedConfig } from "./config/index.ts";
import { createContextService, createGrantService, createParentViewReader } from "./context/index.ts";
import type { Clock, EngineEvent, Random } from "./domain/index.ts";
import { createHooks } from "./hooks.ts";
import { createJobService } from "./jobs/index.ts";
import {
  applyRetention,
  checkDatabase,
  createChangeFeed,
  distributeDatabase,
  forgetPerson,
  listBackups,
  readStatus,
  rewriteDatabase,
  runDoctor,
  takeBackup,
} from "./maintenance/index.ts";
import { createMemoryService, type MemoryIndex, type MemoryService } from "./memory/index.ts";
import {
  createChainLimits,
  createEmbedder,
  createModels,
  createUsageRecorder,
  type Embedder,
  PreviousEmbedders,
} from "./models/index.ts";
import { createSearchService, type SearchIndex, type SearchService, selectEmbeddedText } from "./search/index.ts";
import { createAccessTokenService, createAuditLog } from "./security/index.ts";
import { createOwnerService, createSessionService, resolveConversationPrincipal } from "./session/index.ts";
import type { Store } from "./store/index.ts";
import { createSecretService, createTranscriptService } from "./transcript/index.ts";
import { createTurnService } from "./turn/index.ts";
import type { OpenOptions, Varve } from "./varve.ts";
import { packageFolder, version } from "./version.ts";

/** Loaded on demand: most programs import nothing. */
const loadImporters = () => import("./imports/index.ts");

/** The embedder of an engine, which is created before its store is open. */
export interface EngineEmbedder {
  embedder: Embedder | undefined;
  /** The embedder that this engine opened, and must close. */
  ownEmbedder: Embedder | undefined;
}

/** Creates the embedder that the settings name, unless the options provide one, and warms it up for a search. */
export function openEmbedder(options: OpenOptions, loaded: LoadedConfig, clock: Clock, random: Random): EngineEmbedder {
  const provided = options.models?.embedder;
  const ownEmbedder = provided ? undefined : createEmbedder({ loaded, clock, random });
  const embedder = provided ?? ownEmbedder;
  if (options.willSearch !== undefined) warmUp(embedder, options.willSearch);
  return { embedder, ownEmbedder };
}

/** Loads the model and embeds a query while the database is opened. The search reports its failure. */
function warmUp(embedder: Embedder | undefined, query: string): void {
  embedder?.embedQuery(selectEmbeddedText(query)).catch(() => undefined);
}

/** Creates the services in the order of their dependencies. */
export function createServices(
  options: OpenOptions,
  loaded: LoadedConfig,
  store: Store,
  { embedder, ownEmbedder }: EngineEmbedder,
): Varve {
  const { config, home } = loaded;
  const { clock, random } = store;
  const background = options.background !== false;
  const listeners = new Set<(event: EngineEvent) => void>();
  const emit = (event: EngineEvent) => {
    for (const listener of listeners) listener(event);
  };
  const hooks = createHooks(options.hooks ?? {}, emit);
  const jobs = createJobService({
    store,
    agent: config.agent,
    background,
    onFailed({ agent, key, kind, attempts }, error) {
      const text = error instanceof Error ? error.message : String(error);
      emit({ type: "job.failed", agent, key, data: { kind, error: text, attempts } });
    },
  });
  const models = createModels(loaded, store, options.models ?? {});
  const usage = createUsageRecorder(store, createChainLimits(config));
  const previousEmbedders = new PreviousEmbedders({ loaded, clock, random }, options.models?.earlierEmbedders);
  const sessions = createSessionService(store, config, {
    readParentView: createParentViewReader(store, config),
    beforeReset: hooks.beforeReset,
    emit,
  });
  const transcripts = createTranscriptService({
    store,
    jobs,
    largeContentTokens: config.context.largeFileTokenThreshold,
    describeFile: models.largeFile,
    redact: config.redact.exports,
  });
  const search: SearchService & SearchIndex = createSearchService({
    loaded,
    store,
    embedder,
    reranker: models.reranker,
    openPrevious: (name) => previousEmbedders.open(name),
    findMemories: (visibility, request) => memory.findForSearch(visibility, request),
    resolvePrincipal: (session) => resolveConversationPrincipal(store, config, session),
  });
  const memory: MemoryService & MemoryIndex = createMemoryService({
    loaded,
    store,
    search,
    generate: models.memory,
    jobs,
    emit,
  });
  const context = createContextService({
    ...{ loaded, store, transcripts, sessions, search, memory, models, jobs, emit },
    summarisers: options.summarisers,
    beforeCompact: hooks.beforeCompact,
    wait: options.hooks?.wait,
  });
  const turns = createTurnService({
    config,
    home,
    store,
    sessions,
    transcripts,
    context,
    search,
    memory,
    usage,
    mcpProgram: join(packageFolder, "bin", "varve.js"),
    background,
    afterTurn: hooks.afterTurn,
    emit,
  });
  const owners = createOwnerService(store, config);
  const audit = createAuditLog(store, config.gateway.audit);
  let closing: Promise<void> | undefined;
  const varve: Varve = {
    settings: loaded,
    sessions,
    transcripts,
    context,
    search,
    memory,
    turns,
    hooks: hooks.service,
    owners,
    grants: createGrantService({ store, config, sessions }),
    accessTokens: createAccessTokenService(store, { configured: config.gateway.tokens }),
    audit,
    jobs,
    import: async (paths, request) => (await loadImporters()).importEverything({ store, config, home }, paths, request),
    importHostTranscript: async (transcript, hostOptions) =>
      (await loadImporters()).importHostTranscript({ store, config }, transcript, hostOptions),
    watch: async (paths, request) => (await loadImporters()).watchTranscripts({ store, config, home }, paths, request),
    status: () => store.readWithLag(() => readStatus({ loaded, store, search, usage, owners, version })),
    doctor: (doctorOptions) => runDoctor({ store, loaded }, doctorOptions),
    checkDatabase: () => checkDatabase(store),
    distributeDatabase: () => distributeDatabase(store),
    secrets: createSecretService(store, config.agent),
    rewriteDatabase: (rewriteOptions) => rewriteDatabase(store, rewriteOptions),
    backup: (file, backupOptions) => takeBackup(store, home, file, backupOptions),
    listBackups: () => listBackups(backupFolder(home)),
    openChangeFeed: () => createChangeFeed(store),
    // Both concern every tenant, so they run with full access.
    applyRetention: () => runAsEngine(() => applyRetention({ store, config, audit })),
    forgetPerson: (id, forgetOptions) => runAsEngine(() => forgetPerson({ store, loaded }, id, forgetOptions)),
    // Loaded on demand: most programs, and a gateway without MCP clients, do without it.
    tools: async (toolOptions) => (await import("./tools/index.ts")).openToolbox(varve, toolOptions).tools,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      closing ??= (async () => {
        await turns.stop();
        await hooks.settle();
        await usage.flush();
        await jobs.stop();
        await search.close();
        await ownEmbedder?.close();
        await previousEmbedders.close();
        try {
          await memory.close();
          await audit.close();
        } finally {
          await store.close();
        }
      })();
      return closing;
    },
  };
  return varve;
}
