import type { IncomingMessage } from "node:http";
import { type ExchangeHost, isEventStream, type Sending, send } from "./exchange-host.ts";
import { answeredHeaders, asBody, readAll } from "./forward.ts";
import { tokensOfUnit } from "./history.ts";
import { parseObject } from "./json.ts";
import type { Plan, Turn } from "./planner.ts";
import { answerCalls } from "./recall-tools.ts";
import { type Rounds, type RoundsResult, runRounds } from "./rounds.ts";
import { sseParser } from "./sse.ts";
import type { View } from "./view.ts";
import type { AnsweredCall, Call, Unit } from "./wire.ts";

/** What one answer of a tool may take. */
const recallTokensMax = 8_000;
const recallShare = 0.6;
/** With less than this left, looking up more would only push the conversation out. */
const recallTokensLeast = 300;

function hasView(plan: Plan): plan is Plan & { view: View } {
  return plan.view !== undefined;
}

/** What the client gets for what a provider answers. */
export async function answerWith(
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
  const body = parseObject(bytes);
  if (body !== undefined) await host.keep(turn, plan, [body], { ours: new Set(), isWhole: true });
  return new Response(asBody(bytes), { status, headers: answeredHeaders(upstream) });
}

function bodyOf(status: number, upstream: IncomingMessage): ReadableStream | null {
  if (status !== 204 && status !== 304) return ReadableStream.from(upstream as AsyncIterable<Buffer>);
  upstream.resume();
  return null;
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
      principal: turn.principal,
      signal: turn.signal,
      onFailure: (error) => host.fail("answer a recall tool", error),
    },
    calls,
    room,
  );
}
