import type { IncomingMessage } from "node:http";
import { estimateUnitTokens } from "./history.ts";
import { parseObject } from "./json.ts";
import type { Plan, Turn } from "./planner.ts";
import { isEventStream, type ProxyServices, sendUpstream, type UpstreamCall } from "./proxy-services.ts";
import { answerCalls } from "./recall-tools.ts";
import { type Rounds, type RoundsResult, runRounds } from "./rounds.ts";
import { createSseParser } from "./sse.ts";
import { copyAnswerHeaders, readAll, toBody } from "./upstream-client.ts";
import type { View } from "./view.ts";
import type { AnsweredCall, Call, Unit } from "./wire.ts";

/** The maximum size of the answers to one round of recall calls. */
const recallTokensMax = 8_000;
const recallShare = 0.6;
/** With less than this left, recall would only push the conversation out of the window. */
const recallTokensMin = 300;

function hasView(plan: Plan): plan is Plan & { view: View } {
  return plan.view !== undefined;
}

/** Creates the client's response from the provider's, and records the reply. */
export async function answerClient(
  services: ProxyServices,
  turn: Turn,
  plan: Plan,
  call: UpstreamCall,
  upstream: IncomingMessage,
): Promise<Response> {
  const status = upstream.statusCode ?? 502;
  if (status !== 200)
    return new Response(toBodyStream(status, upstream), { status, headers: copyAnswerHeaders(upstream) });
  const isStream = isEventStream(upstream);
  if (plan.tools.length > 0 && hasView(plan)) return answerInRounds(services, turn, plan, call, upstream, isStream);
  if (isStream) {
    const stream = ReadableStream.from(streamUnchanged(services, turn, plan, call, upstream));
    return new Response(stream, { status, headers: copyAnswerHeaders(upstream) });
  }
  const bytes = await readAll(upstream);
  const body = parseObject(bytes);
  await services.recordReply(turn, plan, body === undefined ? [] : [body], { ours: new Set(), isWhole: true });
  return new Response(toBody(bytes), { status, headers: copyAnswerHeaders(upstream) });
}

function toBodyStream(status: number, upstream: IncomingMessage): ReadableStream | null {
  if (status !== 204 && status !== 304) return ReadableStream.from(upstream as AsyncIterable<Buffer>);
  upstream.resume();
  return null;
}

/** Passes the provider's bytes on unchanged and parses them meanwhile. The stream ends after the reply is recorded. */
async function* streamUnchanged(
  services: ProxyServices,
  turn: Turn,
  plan: Plan,
  call: UpstreamCall,
  upstream: IncomingMessage,
): AsyncGenerator<Uint8Array> {
  const reader = turn.format.reader();
  const parser = createSseParser();
  let isBroken = false;
  try {
    for await (const chunk of upstream as AsyncIterable<Buffer>) {
      for (const event of parser.push(chunk)) reader.take(event);
      yield chunk;
    }
    for (const event of parser.finish()) reader.take(event);
  } catch {
    // The part that was received is recorded below; the client's connection is broken off as well.
    isBroken = true;
  } finally {
    upstream.destroy();
    const body = reader.body();
    const isWhole = reader.isComplete() && reader.error() === undefined;
    const isRefused = body === undefined && reader.error() !== undefined;
    const bodies = body === undefined ? [] : [body];
    if (!isRefused) await services.recordReply(turn, plan, bodies, { ours: new Set(), isWhole });
    if (isBroken) call.breakOff();
  }
}

async function answerInRounds(
  services: ProxyServices,
  turn: Turn,
  plan: Plan & { view: View },
  call: UpstreamCall,
  first: IncomingMessage,
  isStream: boolean,
): Promise<Response> {
  const ours = new Set(plan.tools.map(({ name }) => name));
  const rounds: Rounds = {
    format: turn.format,
    ours,
    isStream,
    roundsMax: services.varve.settings.config.proxy.recallRoundsMax,
    answer: (calls, inner) => answerRecallCalls(services, turn, plan, calls, inner),
    ask: (inner, withheld) => {
      const isFull = estimateLeftTokens(turn, plan, inner) < recallTokensMin;
      const body = services.planner.compose(turn, plan, [...inner], withheld || isFull);
      return sendUpstream(services, call, Buffer.from(JSON.stringify(body)));
    },
  };
  const headers = copyAnswerHeaders(first, { length: false });
  if (isStream) {
    const stream = streamRounds(services, turn, plan, call, rounds, first);
    return new Response(ReadableStream.from(encodeTexts(stream)), { status: 200, headers });
  }
  const run = runRounds(rounds, first);
  let step = await run.next();
  while (!step.done) step = await run.next();
  const { bodies, insertion, isWhole, refused, unreadable } = step.value;
  if (refused) {
    return new Response(toBodyStream(refused.statusCode ?? 502, refused), {
      status: refused.statusCode ?? 502,
      headers: copyAnswerHeaders(refused),
    });
  }
  if (unreadable) await services.recordReply(turn, plan, [], { ours, isWhole });
  if (unreadable) return new Response(toBody(unreadable), { status: 200, headers });
  await services.recordReply(turn, plan, bodies, { insertion, ours, isWhole });
  const merged = bodies.length === 1 && insertion === undefined ? bodies[0] : turn.format.merge(bodies, ours);
  return new Response(JSON.stringify(merged), { status: 200, headers });
}

async function* encodeTexts(texts: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}

async function* streamRounds(
  services: ProxyServices,
  turn: Turn,
  plan: Plan,
  call: UpstreamCall,
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
    services.fail("continue a reply after a recall call", error);
    yield turn.format.errorEvent("The reply could not be continued after a recall call.");
  } finally {
    first.destroy();
    await services.recordReply(turn, plan, result?.bodies ?? [], {
      insertion: result?.insertion,
      ours: rounds.ours,
      isWhole: result?.isWhole ?? false,
    });
    if (result && !result.isWhole && !result.refused) call.breakOff();
  }
}

function estimateLeftTokens(turn: Turn, plan: Plan, inner: readonly Unit[]): number {
  return plan.leftTokens - inner.reduce((sum, unit) => sum + estimateUnitTokens(turn.format, unit), 0);
}

async function answerRecallCalls(
  services: ProxyServices,
  turn: Turn,
  plan: Plan,
  calls: readonly Call[],
  inner: readonly Unit[],
): Promise<AnsweredCall[]> {
  services.counters.recalls += calls.length;
  const budgetTokens = Math.min(estimateLeftTokens(turn, plan, inner) * recallShare, recallTokensMax);
  if (turn.storeHistory === undefined || budgetTokens < recallTokensMin) {
    return calls.map((call) => ({
      ...call,
      output: "The context window has no space left for recall.",
      isError: true,
    }));
  }
  const session = await turn.storeHistory();
  return answerCalls(
    {
      varve: services.varve,
      session,
      principal: turn.principal,
      signal: turn.signal,
      onFailure: (error) => services.fail("answer a recall tool", error),
    },
    calls,
    budgetTokens,
  );
}
