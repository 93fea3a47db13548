import type { OutgoingHttpHeaders } from "node:http";
import type { Principal } from "../authorization/index.ts";
import { toVarveError } from "../domain/index.ts";
import { openProviderCredential, type Varve } from "../engine.ts";
import { Continuations } from "./continuations.ts";
import { Conversation } from "./conversation.ts";
import { noCounts, type ProxyCounters } from "./counters.ts";
import { withDeadline } from "./deadline.ts";
import { exchange } from "./exchange.ts";
import { type ExchangeHost, type Sending, send } from "./exchange-host.ts";
import { answeredHeaders, forwardedHeaders, readAll, Upstreams } from "./forward.ts";
import { readHistory, titleOf } from "./history.ts";
import { parseObject } from "./json.ts";
import { Planner, type Turn } from "./planner.ts";
import { Recent } from "./recent.ts";
import { errorFormat, type Provider, type Route, routeOf } from "./routes.ts";
import { clientScope, type NameSources, sessionKey } from "./session-name.ts";
import { TranscriptRecorder } from "./transcript-recorder.ts";
import { Windows } from "./window.ts";
import type { Format, Unit } from "./wire.ts";

export interface ProxyRequest {
  provider: Provider;
  method: string;
  /** What stands behind `/proxy/<provider>`, with its query. */
  path: string;
  headers: Headers;
  body: Uint8Array;
  signal: AbortSignal;
  /** Breaks the connection to the client, as the provider broke its own. */
  breakOff(): void;
  /** Who showed a token of the gateway; undefined on this machine, where the client's own credential is enough. */
  principal?: Principal;
  /** Whether the client sent a token of the gateway in place of a key, so that the gateway's own key is used. */
  useOwnKey?: boolean;
}

export interface ModelProxy {
  handle(request: ProxyRequest): Promise<Response>;
  readonly counters: Readonly<ProxyCounters>;
  /** Ends connections once what is being written is written. */
  close(): Promise<void>;
}

export interface ProxyHost {
  varve: Varve;
  /** The secret of this installation, for names that nobody can guess. */
  secret: string;
  /** Told of everything that failed and that the client did not have to know. */
  onFailure(what: string, error: unknown): void;
  /** The usual times where absent. */
  deadlines?: Partial<ProxyDeadlines>;
}

/** How long a client waits for the store before its request or reply goes on without it, in milliseconds. */
export interface ProxyDeadlines {
  /** For a request: to read how its model counts. */
  ratioMs: number;
  /** At the end of a reply: to write it to the log. */
  recordMs: number;
}

const defaultDeadlines: ProxyDeadlines = { ratioMs: 1_000, recordMs: 5_000 };

export function createProxy({ varve, secret, onFailure, ...given }: ProxyHost): ModelProxy {
  const deadlines: ProxyDeadlines = { ...defaultDeadlines, ...given.deadlines };
  const settings = varve.settings.config.proxy;
  const counters: ProxyCounters = { ...noCounts };
  const conversations = new Recent<Conversation>(settings.sessionsInMemory);
  const continuations = new Continuations();
  const { config, sources } = varve.settings;
  const isWindowSet = sources.get("context.windowTokens")?.kind !== "default";
  const windows = new Windows(settings.windowTokens, isWindowSet ? config.context.windowTokens : undefined);
  const planner = new Planner(varve, windows, counters);
  const upstreams = new Upstreams();
  const fail = (what: string, error: unknown): void => {
    counters.failures += 1;
    onFailure(`The proxy could not ${what}.`, error);
  };
  const { recordMs } = deadlines;
  const keeper = new TranscriptRecorder({
    varve,
    planner,
    conversations,
    continuations,
    counters,
    onFailure,
    recordMs,
  });
  const host: ExchangeHost = {
    varve,
    planner,
    upstreams,
    counters,
    fail,
    keep: (turn, plan, bodies, result) => keeper.keep(turn, plan, bodies, result),
  };

  /** The conversation that a new beginning of the same client goes on with. */
  const continuedBy = (
    names: NameSources,
    key: string,
    format: Format,
    units: readonly Unit[],
  ): Conversation | undefined => {
    const scope = clientScope(names);
    const before = scope === undefined ? undefined : continuations.find(scope, key, format, units[0]);
    const conversation = before === undefined ? undefined : conversations.get(before);
    if (conversation) keeper.alias(conversation, key);
    return conversation;
  };

  const turnFor = async (
    request: ProxyRequest,
    route: Route & { format: NonNullable<Route["format"]> },
  ): Promise<Turn | undefined> => {
    const { format, isCount } = route;
    const body = parseObject(request.body);
    const opened = body && format.open(body);
    if (!body || !opened) return undefined;
    const { principal, headers, provider, signal } = request;
    const agent = principal?.agents?.[0] ?? varve.settings.config.agent;
    const credential = headers.get("x-api-key") ?? headers.get("authorization") ?? "";
    const names: NameSources = { headers, principal, credential, secret, agent };
    const key = sessionKey(names, format, opened.units);
    const conversation =
      (key === undefined ? undefined : (conversations.get(key) ?? continuedBy(names, key, format, opened.units))) ??
      new Conversation(varve, agent, key, () => titleOf(format, opened.units));
    if (key !== undefined) conversations.set(key, conversation);
    const history = readHistory(format, opened.units, conversation.known);
    const { links } = history;
    const model = `${provider}/${opened.model}`;
    const turn: Turn = { format, model, body, opened, conversation, links, principal, signal, names };
    await withDeadline("Reading how a model counts", deadlines.ratioMs, signal, () => planner.learnRatio(model)).catch(
      (error: unknown) => fail("read how a model counts", error),
    );
    if (isCount) return turn;
    conversation.known = history;
    return key === undefined ? turn : { ...turn, synced: keeper.sync(turn) };
  };

  const forward = async (request: ProxyRequest, sending: Sending): Promise<Response> => {
    const { method } = request;
    const body = method === "GET" || method === "HEAD" ? undefined : sending.bytes;
    const upstream = await send(host, sending, body);
    const status = upstream.statusCode ?? 502;
    const isEmpty = method === "HEAD" || status === 204 || status === 304;
    if (isEmpty) upstream.resume();
    const stream = isEmpty ? null : ReadableStream.from(passedOn(upstream, request.breakOff));
    return new Response(stream, { status, headers: answeredHeaders(upstream) });
  };

  /** What a request takes as it would really be sent; where the provider does not count, the estimate answers. */
  const count = async (sending: Sending, turn: Turn): Promise<Response> => {
    const plan = planner.planForCount(turn);
    const { view } = plan;
    const bytes = view ? Buffer.from(JSON.stringify(planner.compose(turn, { ...plan, view }, []))) : sending.bytes;
    const upstream = await send(host, sending, bytes);
    const status = upstream.statusCode ?? 502;
    const answer = await readAll(upstream);
    if (![404, 405, 501].includes(status)) {
      return new Response(new Uint8Array(answer), { status, headers: answeredHeaders(upstream) });
    }
    return Response.json({ input_tokens: Math.ceil(plan.tokens * planner.ratioOf(turn.model)) });
  };

  const handle = async (request: ProxyRequest): Promise<Response> => {
    counters.requests += 1;
    const { provider, method, path, signal } = request;
    const route = routeOf(provider, method, path, settings[provider].baseUrl);
    const headers = forwardedHeaders(request.headers);
    const renewCredential = request.useOwnKey ? await useOwnKey(varve, provider, headers, signal) : undefined;
    const { body: bytes, breakOff } = request;
    const sending: Sending = { url: route.url, method, headers, renewCredential, bytes, signal, breakOff };
    const { format } = route;
    if (!format) return forward(request, sending);
    const turn = await openTurn(() => turnFor(request, { ...route, format }));
    if (!turn) return forward(request, sending);
    return route.isCount ? count(sending, turn) : exchange(host, turn, sending);
  };

  /** A request that cannot be understood is forwarded as it came; one that asks for what it may not is refused. */
  const openTurn = async <T>(open: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await open();
    } catch (error) {
      const { code, kind } = toVarveError(error);
      // A message that cannot be kept is the provider's to judge; a session that must not be named is not.
      if (code !== "BAD_MESSAGE" && (kind === "usage" || kind === "refused")) throw error;
      fail("understand a request", error);
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
      await keeper.settle();
      upstreams.close();
    },
  };
}

/** An answer that breaks off breaks off for the client too, without a word of ours in it. */
async function* passedOn(upstream: AsyncIterable<Buffer>, breakOff: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* upstream;
  } catch {
    breakOff();
  }
}

/** Puts the gateway's own credential in place of the client's; what comes back does so again with another one. */
async function useOwnKey(
  varve: Varve,
  provider: Provider,
  headers: OutgoingHttpHeaders,
  signal: AbortSignal,
): Promise<() => Promise<boolean>> {
  const own = openProviderCredential(varve.settings, provider);
  const show = (shown: Record<string, string>): void => {
    delete headers["x-api-key"];
    delete headers.authorization;
    Object.assign(headers, shown);
  };
  show(await own.headers(signal));
  return async () => {
    const next = await own.renewed(signal);
    if (next !== undefined) show(next);
    return next !== undefined;
  };
}
