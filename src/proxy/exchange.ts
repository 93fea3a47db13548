import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { JsonObject } from "../domain/index.ts";
import { isContextOverflow, type Varve } from "../engine.ts";
import type { ProxyCounters } from "./counters.ts";
import { withDeadline } from "./deadline.ts";
import { answeredHeaders, readAll, type Upstreams } from "./forward.ts";
import { tokensOfUnit } from "./history.ts";
import { peekRefusal } from "./peek.ts";
import type { Plan, Planner, Turn } from "./planner.ts";
import { answerCalls } from "./recall-tools.ts";
import { type Rounds, type RoundsResult, runRounds } from "./rounds.ts";
import { sseParser } from "./sse.ts";
import type { View } from "./view.ts";
import { readOverflow } from "./window.ts";
import type { AnsweredCall, Call, Unit } from "./wire.ts";

/** What an exchange needs of the proxy. */
export interface ExchangeHost {
  varve: Varve;
  planner: Planner;
  upstreams: Upstreams;
  counters: ProxyCounters;
  fail(what: string, error: unknown): void;
  /** Keeps a reply; resolves when it is written, or when that failed and was said. */
  keep(turn: Turn, plan: Plan, bodies: readonly JsonObject[], result: KeptReply): Promise<void>;
}

export interface KeptReply {
  insertion?: RoundsResult["insertion"];
  ours: ReadonlySet<string>;
  isWhole: boolean;
}

export interface Sending {
  url: URL;
  headers: OutgoingHttpHeaders;
  /** The client's own bytes. */
  bytes: Uint8Array;
  signal: AbortSignal;
  /** Breaks the connection to the client, as the provider broke its own. */
  breakOff(): void;
}

const attemptsMax = 4;
/** Refusals with these have nothing to do with what was sent. */
const notAboutTheBody = new Set([401, 402, 403, 404, 407, 408, 429]);
/** What one answer of a tool may take. */
const recallTokensMax = 8_000;
const recallShare = 0.6;
/** With less than this left, looking up more would only push the conversation out. */
const recallTokensLeast = 300;

/** Sends a request on, in the form that fits, and answers with what comes back. */
export async function exchange(host: ExchangeHost, turn: Turn, sending: Sending): Promise<Response> {
  let plan = await firstPlan(host, turn);
  for (let attempt = 0; ; attempt += 1) {
    const upstream = await send(host, sending, bytesOf(host, turn, plan, sending));
    const status = upstream.statusCode ?? 502;
    const refused = await refusalOf(turn, upstream, status);
    if (refused === undefined) return answerWith(host, turn, plan, sending, upstream);
    const text = refused.toString("utf8");
    const again = attempt + 1 < attemptsMax ? await afterRefusal(host, turn, plan, status, text, attempt) : undefined;
    if (again === undefined) {
      if (status === 200) return answerWith(host, turn, plan, sending, upstream);
      return new Response(asBody(refused), { status, headers: answeredHeaders(upstream) });
    }
    upstream.destroy();
    if (again === "as it came") {
      return answerWith(host, turn, unchangedPlan(turn), sending, await send(host, sending, sending.bytes));
    }
    plan = again;
  }
}

/** What a provider says against a request; undefined when it answers, or when the request is not to blame. */
async function refusalOf({ format }: Turn, upstream: IncomingMessage, status: number): Promise<Buffer | undefined> {
  if (status >= 400) return notAboutTheBody.has(status) ? undefined : readAll(upstream);
  if (status !== 200 || format.judge === undefined || !isEventStream(upstream)) return undefined;
  const said = await peekRefusal(upstream, format.judge);
  return said === undefined ? undefined : Buffer.from(said);
}

/** What fits now, else what can be made to fit; when that fails, the request as it came. */
async function firstPlan(host: ExchangeHost, turn: Turn): Promise<Plan> {
  const ready = host.planner.planNow(turn);
  if (ready) return ready;
  return (await planAnew(host, turn, 0)) ?? unchangedPlan(turn);
}

async function planAnew(host: ExchangeHost, turn: Turn, attempt: number): Promise<Plan | undefined> {
  const { engineTimeoutMs } = host.varve.settings.config.proxy;
  try {
    return await withDeadline("Making the conversation fit", engineTimeoutMs, turn.signal, (signal) =>
      host.planner.planAnew(turn, attempt, signal),
    );
  } catch (error) {
    turn.signal.throwIfAborted();
    host.fail("make a request fit", error);
    return undefined;
  }
}

function unchangedPlan({ conversation, links, opened }: Turn): Plan {
  const tokens = conversation.estimateFixed(opened.fixedText) + links.reduce((sum, link) => sum + link.tokens, 0);
  return { tools: [], tokens, leftTokens: 0 };
}

/** What to send after a refusal; undefined when the client has to see it. */
async function afterRefusal(
  host: ExchangeHost,
  turn: Turn,
  plan: Plan,
  status: number,
  text: string,
  attempt: number,
): Promise<Plan | "as it came" | undefined> {
  if (!isContextOverflow({ message: text, statusCode: status })) {
    // Whatever is wrong with what was made of the request, the client is not to suffer for it.
    if (plan.view === undefined || status >= 500 || status === 200) return undefined;
    host.fail("have a changed request taken", new Error(`${status} ${text.slice(0, 500)}`));
    return host.planner.planAfterRefusal(turn, plan) ?? "as it came";
  }
  try {
    await host.planner.learn(turn, readOverflow(text), plan);
  } catch (error) {
    host.fail("note the window of a model", error);
  }
  const fitting = attempt === 0 ? host.planner.planNow(turn) : undefined;
  const isSmaller = fitting?.view !== undefined && fitting.tokens < plan.tokens;
  const next = isSmaller ? fitting : await planAnew(host, turn, attempt);
  if (next !== undefined) host.counters.overflowsCured += 1;
  return next;
}

function hasView(plan: Plan): plan is Plan & { view: View } {
  return plan.view !== undefined;
}

function bytesOf(host: ExchangeHost, turn: Turn, plan: Plan, sending: Sending): Uint8Array {
  if (!hasView(plan)) return sending.bytes;
  host.counters.replaced += 1;
  return Buffer.from(JSON.stringify(host.planner.compose(turn, plan, [])));
}

function send(host: ExchangeHost, { url, headers, signal }: Sending, body: Uint8Array): Promise<IncomingMessage> {
  const timeoutMs = host.varve.settings.config.proxy.upstreamTimeoutMs;
  return host.upstreams.send({ url, method: "POST", headers, body, signal, timeoutMs });
}

function isEventStream(upstream: IncomingMessage): boolean {
  return (upstream.headers["content-type"] ?? "").includes("text/event-stream");
}

async function answerWith(
  host: ExchangeHost,
  turn: Turn,
  plan: Plan,
  sending: Sending,
  upstream: IncomingMessage,
): Promise<Response> {
  const status = upstream.statusCode ?? 502;
  if (status !== 200) return new Response(bodyOf(status, upstream), { status, headers: answeredHeaders(upstream) });
  const isStream = isEventStream(upstream);
  if (plan.tools.length > 0 && hasView(plan)) return answerInRounds(host, turn, plan, sending, upstream, isStream);
  if (isStream) {
    const stream = ReadableStream.from(passing(host, turn, plan, sending, upstream));
    return new Response(stream, { status, headers: answeredHeaders(upstream) });
  }
  const bytes = await readAll(upstream);
  const body = parsed(bytes);
  if (body !== undefined) await host.keep(turn, plan, [body], { ours: new Set(), isWhole: true });
  return new Response(asBody(bytes), { status, headers: answeredHeaders(upstream) });
}

function bodyOf(status: number, upstream: IncomingMessage): ReadableStream | null {
  if (status !== 204 && status !== 304) return ReadableStream.from(upstream as AsyncIterable<Buffer>);
  upstream.resume();
  return null;
}

function parsed(bytes: Buffer): JsonObject | undefined {
  try {
    return JSON.parse(bytes.toString("utf8")) as JsonObject;
  } catch {
    // What a provider sends is passed on whatever it is; only what can be read is kept.
    return undefined;
  }
}

/** The provider's bytes as they come, read on the way. The end waits until the reply is kept. */
async function* passing(
  host: ExchangeHost,
  turn: Turn,
  plan: Plan,
  sending: Sending,
  upstream: IncomingMessage,
): AsyncGenerator<Uint8Array> {
  const reader = turn.format.reader();
  const parser = sseParser();
  let isBroken = false;
  try {
    for await (const chunk of upstream as AsyncIterable<Buffer>) {
      for (const event of parser.push(chunk)) reader.take(event);
      yield chunk;
    }
    for (const event of parser.rest()) reader.take(event);
  } catch {
    // What came is kept below; the client is to see that there was more to come.
    isBroken = true;
  } finally {
    upstream.destroy();
    const body = reader.body();
    const isWhole = reader.isOver() && reader.error() === undefined;
    if (body !== undefined) await host.keep(turn, plan, [body], { ours: new Set(), isWhole });
    if (isBroken) sending.breakOff();
  }
}

async function answerInRounds(
  host: ExchangeHost,
  turn: Turn,
  plan: Plan & { view: View },
  sending: Sending,
  first: IncomingMessage,
  isStream: boolean,
): Promise<Response> {
  const ours = new Set(plan.tools.map(({ name }) => name));
  const rounds: Rounds = {
    format: turn.format,
    ours,
    isStream,
    roundsMax: host.varve.settings.config.proxy.recallRoundsMax,
    answer: (calls, inner) => answerInside(host, turn, plan, calls, inner),
    ask: (inner, withheld) => {
      const isFull = leftAfter(turn, plan, inner) < recallTokensLeast;
      const body = host.planner.compose(turn, plan, [...inner], withheld || isFull);
      return send(host, sending, Buffer.from(JSON.stringify(body)));
    },
  };
  const headers = answeredHeaders(first, { length: false });
  if (isStream) {
    const stream = editedStream(host, turn, plan, sending, rounds, first);
    return new Response(ReadableStream.from(encoded(stream)), { status: 200, headers });
  }
  const run = runRounds(rounds, first);
  let step = await run.next();
  while (!step.done) step = await run.next();
  const { bodies, insertion, isWhole, refused, unreadable } = step.value;
  if (refused) {
    return new Response(bodyOf(refused.statusCode ?? 502, refused), {
      status: refused.statusCode ?? 502,
      headers: answeredHeaders(refused),
    });
  }
  if (unreadable) return new Response(asBody(unreadable), { status: 200, headers });
  await host.keep(turn, plan, bodies, { insertion, ours, isWhole });
  const merged = bodies.length === 1 && insertion === undefined ? bodies[0] : turn.format.merge(bodies, ours);
  return new Response(JSON.stringify(merged), { status: 200, headers });
}

async function* encoded(texts: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}

async function* editedStream(
  host: ExchangeHost,
  turn: Turn,
  plan: Plan,
  sending: Sending,
  rounds: Rounds,
  first: IncomingMessage,
): AsyncGenerator<string> {
  let result: RoundsResult | undefined;
  try {
    result = yield* runRounds(rounds, first);
    if (result.refused) {
      result.refused.resume();
      yield turn.format.errorEvent(`The provider answered with status ${result.refused.statusCode}.`);
    }
  } catch (error) {
    if (turn.signal.aborted) return;
    host.fail("carry a reply on", error);
    yield turn.format.errorEvent("The reply could not be carried on.");
  } finally {
    first.destroy();
    if (result && result.bodies.length > 0) {
      await host.keep(turn, plan, result.bodies, {
        insertion: result.insertion,
        ours: rounds.ours,
        isWhole: result.isWhole,
      });
    }
    if (result && !result.isWhole && !result.refused) sending.breakOff();
  }
}

function leftAfter(turn: Turn, plan: Plan, inner: readonly Unit[]): number {
  return plan.leftTokens - inner.reduce((sum, unit) => sum + tokensOfUnit(turn.format, unit), 0);
}

async function answerInside(
  host: ExchangeHost,
  turn: Turn,
  plan: Plan,
  calls: readonly Call[],
  inner: readonly Unit[],
): Promise<AnsweredCall[]> {
  host.counters.recalls += calls.length;
  const room = Math.min(leftAfter(turn, plan, inner) * recallShare, recallTokensMax);
  if (turn.synced === undefined || room < recallTokensLeast) {
    return calls.map((call) => ({ ...call, output: "There is no room left to look anything up.", isError: true }));
  }
  const session = await turn.synced;
  return answerCalls(
    {
      varve: host.varve,
      session,
      caller: turn.caller,
      signal: turn.signal,
      onFailure: (error) => host.fail("answer a recall tool", error),
    },
    calls,
    room,
  );
}

function asBody(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
