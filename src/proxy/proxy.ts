import type { OutgoingHttpHeaders } from "node:http";
import { LRUCache } from "lru-cache";
import type { Principal } from "../authorization/index.ts";
import { toVarveError, VarveError } from "../domain/index.ts";
import { openProviderCredential, type Session, type Varve } from "../index.ts";
import { Continuations } from "./continuations.ts";
import { Conversation } from "./conversation.ts";
import { type ProxyCounters, zeroCounters } from "./counters.ts";
import { withDeadline } from "./deadline.ts";
import { exchange } from "./exchange.ts";
import { createTitle, readHistory } from "./history.ts";
import { parseObject } from "./json.ts";
import { Planner, type Turn } from "./planner.ts";
import { type ProxyServices, sendUpstream, type UpstreamCall } from "./proxy-services.ts";

import { errorFormat, type Provider, type Route, resolveRoute } from "./routes.ts";
import {
  chooseBelonging,
  deriveExclusiveKey,
  deriveSessionKey,
  findClientScope,
  findClientSession,
  hashCredential,
  type NameSources,
} from "./session-name.ts";
import { TranscriptRecorder } from "./transcript-recorder.ts";
import { copyAnswerHeaders, copyRequestHeaders, readAll, UpstreamClient } from "./upstream-client.ts";
import { ModelWindows } from "./window.ts";
import type { Format, Unit } from "./wire.ts";

export interface ProxyRequest {
  provider: Provider;
  method: string;
  /** The path after `/proxy/<provider>`, with its query. */
  path: string;
  headers: Headers;
  body: Uint8Array;
  signal: AbortSignal;
  /** Breaks the connection to the client off, as the provider broke its own. */
  breakOff(): void;
  /** The principal of the access token; undefined on loopback, where the client's provider key is enough. */
  principal?: Principal;
  /** Whether the client sent an access token instead of a provider key, so that the gateway's own key is used. */
  useOwnKey?: boolean;
}

export interface ModelProxy {
  handle(request: ProxyRequest): Promise<Response>;
  readonly counters: Readonly<ProxyCounters>;
  /** Waits for pending writes, then closes the connections. */
  close(): Promise<void>;
}

export interface ProxyOptions {
  varve: Varve;
  /** The secret of this installation, which makes derived session keys unguessable. */
  secret: string;
  /** Called with every failure that is not reported to the client. */
  onFailure(what: string, error: unknown): void;
  deadlines?: Partial<ProxyDeadlines>;
}

/** How long a client waits for the store before its request or reply continues without it, in milliseconds. */
export interface ProxyDeadlines {
  /** For a request: to load the token ratio of its model. */
  ratioMs: number;
  /** At the end of a reply: to write it to the transcript. */
  recordMs: number;
}

/** How many credentials are known to be accepted by their provider; for others it is checked again. */
const credentialsMax = 1_000;

const defaultDeadlines: ProxyDeadlines = { ratioMs: 1_000, recordMs: 5_000 };

export function createProxy({ varve, secret, onFailure, ...given }: ProxyOptions): ModelProxy {
  const deadlines: ProxyDeadlines = { ...defaultDeadlines, ...given.deadlines };
  const settings = varve.settings.config.proxy;
  const counters: ProxyCounters = { ...zeroCounters };
  const conversations = new LRUCache<string, Conversation>({ max: settings.sessionsInMemory });
  const continuations = new Continuations();
  const accepted = new LRUCache<string, true>({ max: credentialsMax });
  const { config, sources } = varve.settings;
  const isWindowSet = sources.get("context.windowTokens")?.kind !== "default";
  const windows = new ModelWindows(settings.windowTokens, isWindowSet ? config.context.windowTokens : undefined);
  const planner = new Planner(varve, windows, counters);
  const upstreams = new UpstreamClient();
  const fail = (what: string, error: unknown): void => {
    counters.failures += 1;
    onFailure(`The proxy could not ${what}.`, error);
  };
  const { recordMs } = deadlines;
  const recorder = new TranscriptRecorder({
    varve,
    planner,
    conversations,
    continuations,
    counters,
    onFailure,
    recordMs,
  });
  const acceptCredential = (credentialId: string | undefined): void => {
    if (credentialId !== undefined) accepted.set(credentialId, true);
  };
  const services: ProxyServices = {
    varve,
    planner,
    upstreams,
    counters,
    fail,
    recordReply: (turn, plan, bodies, result) => recorder.recordReply(turn, plan, bodies, result),
    acceptCredential: ({ credentialId }) => acceptCredential(credentialId),
    mayStoreFirst: async ({ credentialId, conversation }) =>
      credentialId === undefined || accepted.has(credentialId) || conversation.hasSession(),
  };

  /** Finds the conversation that a client continues after it compacted it itself. */
  const findContinued = (
    names: NameSources,
    { key, cacheKey }: { key: string; cacheKey: string },
    format: Format,
    units: readonly Unit[],
  ): Conversation | undefined => {
    const scope = findClientScope(names);
    const continuedKey = scope === undefined ? undefined : continuations.find(scope, cacheKey, format, units[0]);
    const conversation = continuedKey === undefined ? undefined : conversations.get(continuedKey);
    if (conversation) recorder.recordAlias(conversation, key);
    return conversation;
  };

  /** Returns the hash of a client's own credential; undefined with an access token. */
  const identifyCredential = ({ headers, principal }: ProxyRequest): string | undefined =>
    principal === undefined ? hashCredential(secret, readCredential(headers)) : undefined;

  const readTurn = async (
    request: ProxyRequest,
    route: Route & { format: NonNullable<Route["format"]> },
  ): Promise<Turn | undefined> => {
    const { format, isCount } = route;
    const body = parseObject(request.body);
    const opened = body && format.parse(body);
    if (!body || !opened) return undefined;
    const { principal, headers, provider, signal } = request;
    const agent = principal?.agents?.[0] ?? varve.settings.config.agent;
    const credential = readCredential(headers);
    const names: NameSources = { headers, principal, credential, secret, agent };
    const key = deriveSessionKey(names, format, opened.units);
    const exclusiveKey = deriveExclusiveKey(names, key);
    const cacheKey = exclusiveKey ?? key;
    const conversation =
      (key === undefined || cacheKey === undefined
        ? undefined
        : (conversations.get(cacheKey) ?? findContinued(names, { key, cacheKey }, format, opened.units))) ??
      new Conversation(varve, {
        agent,
        key,
        exclusiveKey,
        client: findClientSession(names),
        belongsTo: chooseBelonging(names, settings.trust),
        ...(principal === undefined && settings.trust === "untrusted" ? { trust: "untrusted" } : {}),
        title: () => createTitle(format, opened.units),
      });
    if (cacheKey !== undefined) conversations.set(cacheKey, conversation);
    const history = readHistory(format, opened.units, conversation.known);
    const { links } = history;
    const model = `${provider}/${opened.model}`;
    const credentialId = identifyCredential(request);
    const turn: Turn = { format, model, body, opened, conversation, links, principal, signal, names, credentialId };
    await withDeadline("Loading the token ratio of a model", deadlines.ratioMs, signal, () =>
      planner.learnRatio(model),
    ).catch((error: unknown) => fail("load the token ratio of a model", error));
    if (isCount) return turn;
    conversation.known = history;
    if (key === undefined) return turn;
    let stored: Promise<Session> | undefined;
    const storeHistory = (): Promise<Session> => {
      stored ??= recorder.storeHistory(turn);
      return stored;
    };
    return { ...turn, storeHistory };
  };

  const forward = async (request: ProxyRequest, call: UpstreamCall): Promise<Response> => {
    const { method } = request;
    const body = method === "GET" || method === "HEAD" ? undefined : call.bytes;
    const upstream = await sendUpstream(services, call, body);
    const status = upstream.statusCode ?? 502;
    const isEmpty = method === "HEAD" || status === 204 || status === 304;
    if (isEmpty) upstream.resume();
    const stream = isEmpty ? null : ReadableStream.from(passThrough(upstream, request.breakOff));
    return new Response(stream, { status, headers: copyAnswerHeaders(upstream) });
  };

  /** Counts the tokens of a request as it would be sent; estimates them where the provider cannot count. */
  const count = async (call: UpstreamCall, turn: Turn): Promise<Response> => {
    const plan = planner.planForCount(turn);
    const { view } = plan;
    const bytes = view ? Buffer.from(JSON.stringify(planner.compose(turn, { ...plan, view }, []))) : call.bytes;
    const upstream = await sendUpstream(services, call, bytes);
    const status = upstream.statusCode ?? 502;
    const answer = await readAll(upstream);
    if (![404, 405, 501].includes(status)) {
      return new Response(new Uint8Array(answer), { status, headers: copyAnswerHeaders(upstream) });
    }
    return Response.json({ input_tokens: Math.ceil(plan.tokens * planner.getRatio(turn.model)) });
  };

  const handle = async (request: ProxyRequest): Promise<Response> => {
    counters.requests += 1;
    const { provider, method, path, signal } = request;
    const route = resolveRoute(provider, method, path, settings[provider].baseUrl);
    if (request.useOwnKey && !route.usesModels) throw createAccountEndpointError(method, path);
    const headers = copyRequestHeaders(request.headers);
    const renewCredential = request.useOwnKey ? await useOwnKey(varve, provider, headers, signal) : undefined;
    const { body: bytes, breakOff } = request;
    const call: UpstreamCall = { url: route.url, method, headers, renewCredential, bytes, signal, breakOff };
    const { format } = route;
    // A request that is no conversation, such as a summary that Varve has an agent program write.
    const isUnrecorded = request.headers.get("x-varve-record") === "off";
    if (!format) return forward(request, call);
    const turn = isUnrecorded ? undefined : await openTurn(() => readTurn(request, { ...route, format }));
    const answer = await answerModelRequest(request, call, route, turn);
    if (answer.status === 200) acceptCredential(identifyCredential(request));
    return answer;
  };

  const answerModelRequest = (
    request: ProxyRequest,
    call: UpstreamCall,
    { isCount }: Route,
    turn: Turn | undefined,
  ): Promise<Response> => {
    if (!turn) return forward(request, call);
    return isCount ? count(call, turn) : exchange(services, turn, call);
  };

  /** Returns undefined for a request that cannot be parsed, which is forwarded unchanged; throws for a forbidden one. */
  const openTurn = async <T>(open: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await open();
    } catch (error) {
      const { code, kind } = toVarveError(error);
      // The provider decides about messages that cannot be stored, but not about sessions that may not be used.
      if (code !== "BAD_MESSAGE" && (kind === "usage" || kind === "refused")) throw error;
      fail("parse a request", error);
      return undefined;
    }
  };

  return {
    counters,
    async handle(request) {
      try {
        return await handle(request);
      } catch (error) {
        const known = toVarveError(error);
        if (known.kind === "failed" && !request.signal.aborted) onFailure("A request through the proxy failed.", error);
        const message = [known.message, known.remedy].filter(Boolean).join(" ");
        const status = known.httpStatus;
        return Response.json(errorFormat(request.provider).error(status, message), { status });
      }
    },
    async close() {
      await recorder.settle();
      upstreams.close();
    },
  };
}

function createAccountEndpointError(method: string, path: string): VarveError {
  const endpoint = `${method} ${(path.split("?")[0] ?? "").slice(0, 200)}`;
  return new VarveError("FORBIDDEN", `${endpoint} is not forwarded with the gateway's own key.`, {
    remedy: "The gateway's key is used for models only. Send a key of your own with the token in x-varve-token.",
  });
}

function readCredential(headers: Headers): string {
  return headers.get("x-api-key") || headers.get("authorization") || "";
}

/** Breaks the client's connection off when the provider's breaks, without adding anything to the answer. */
async function* passThrough(upstream: AsyncIterable<Buffer>, breakOff: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* upstream;
  } catch {
    breakOff();
  }
}

/** Replaces the client's credential by the gateway's own; the returned function replaces it again by a renewed one. */
async function useOwnKey(
  varve: Varve,
  provider: Provider,
  headers: OutgoingHttpHeaders,
  signal: AbortSignal,
): Promise<() => Promise<boolean>> {
  const own = openProviderCredential(varve.settings, provider);
  const setHeaders = (credential: Record<string, string>): void => {
    delete headers["x-api-key"];
    delete headers.authorization;
    Object.assign(headers, credential);
  };
  setHeaders(await own.headers(signal));
  return async () => {
    const next = await own.renewed(signal);
    if (next !== undefined) setHeaders(next);
    return next !== undefined;
  };
}
