import type { IncomingMessage } from "node:http";
import { redactSecrets } from "../domain/index.ts";
import { isContextOverflow } from "../index.ts";
import { answerClient } from "./answer.ts";
import { withDeadline } from "./deadline.ts";
import type { Plan, Turn } from "./planner.ts";
import { isEventStream, type ProxyServices, sendUpstream, type UpstreamCall } from "./proxy-services.ts";
import { createSseParser, type SseEvent } from "./sse.ts";
import { copyAnswerHeaders, readAll, toBody } from "./upstream-client.ts";
import { readOverflow } from "./window.ts";

const attemptsMax = 4;
/** The part of a refusal that is logged. */
const refusalCharactersMax = 200;
/** Refusals with these statuses are not caused by the request body. */
const unrelatedStatuses = new Set([401, 402, 403, 404, 407, 408, 429]);

/** Sends a request in a form that fits the context window, and returns the response for the client. */
export async function exchange(services: ProxyServices, turn: Turn, call: UpstreamCall): Promise<Response> {
  let plan = await planFirst(services, turn);
  for (let attempt = 0; ; attempt += 1) {
    const upstream = await sendUpstream(services, call, createBody(services, turn, plan, call));
    const status = upstream.statusCode ?? 502;
    const refused = await readRefusal(turn, upstream, status);
    if (refused === undefined) return answerClient(services, turn, plan, call, upstream);
    const text = refused.toString("utf8");
    if (isContextOverflow({ message: text, statusCode: status })) services.acceptCredential(turn);
    const again =
      attempt + 1 < attemptsMax ? await planAfterRefusal(services, turn, plan, status, text, attempt) : undefined;
    if (again === undefined) {
      if (status === 200) return answerClient(services, turn, plan, call, upstream);
      return new Response(toBody(refused), { status, headers: copyAnswerHeaders(upstream) });
    }
    upstream.destroy();
    if (again === "unchanged") {
      return answerClient(
        services,
        turn,
        createUnchangedPlan(turn),
        call,
        await sendUpstream(services, call, call.bytes),
      );
    }
    plan = again;
  }
}

/** Reads the provider's refusal; undefined when it answers, or when the request body is not the cause. */
async function readRefusal({ format }: Turn, upstream: IncomingMessage, status: number): Promise<Buffer | undefined> {
  if (status >= 400) return unrelatedStatuses.has(status) ? undefined : readAll(upstream);
  if (status !== 200 || format.judge === undefined || !isEventStream(upstream)) return undefined;
  const refusal = await peekRefusal(upstream, format.judge);
  return refusal === undefined ? undefined : Buffer.from(refusal);
}

/** Returns a plan that fits already, else one with a new view; if that fails, the unchanged request. */
async function planFirst(services: ProxyServices, turn: Turn): Promise<Plan> {
  const ready = services.planner.planFromKnown(turn);
  if (ready) return ready;
  // Nothing is stored or summarised for a credential that no provider has accepted: the provider checks it first.
  if (!(await services.mayStoreFirst(turn))) return createUnchangedPlan(turn);
  return (await planNewView(services, turn, 0)) ?? createUnchangedPlan(turn);
}

async function planNewView(services: ProxyServices, turn: Turn, attempt: number): Promise<Plan | undefined> {
  const { engineTimeoutMs } = services.varve.settings.config.proxy;
  try {
    return await withDeadline("Fitting the conversation into the window", engineTimeoutMs, turn.signal, (signal) =>
      services.planner.planNewView(turn, attempt, signal),
    );
  } catch (error) {
    turn.signal.throwIfAborted();
    services.fail("make a request fit", error);
    return undefined;
  }
}

function createUnchangedPlan({ conversation, links, opened }: Turn): Plan {
  const tokens = conversation.estimateFixed(opened.fixedText) + links.reduce((sum, link) => sum + link.tokens, 0);
  return { tools: [], tokens, leftTokens: 0 };
}

/** Returns what to send after a refusal; undefined when the client must get the refusal. */
async function planAfterRefusal(
  services: ProxyServices,
  turn: Turn,
  plan: Plan,
  status: number,
  text: string,
  attempt: number,
): Promise<Plan | "unchanged" | undefined> {
  if (!isContextOverflow({ message: text, statusCode: status })) {
    // A refusal of the changed request must not reach the client: its own request might be accepted.
    if (plan.view === undefined || status >= 500 || status === 200) return undefined;
    services.fail(
      "get a changed request accepted",
      new Error(`${status} ${redactSecrets(text.slice(0, refusalCharactersMax))}`),
    );
    return services.planner.planAfterRefusal(turn, plan) ?? "unchanged";
  }
  try {
    await services.planner.learnWindow(turn, readOverflow(text), plan);
  } catch (error) {
    services.fail("record the window of a model", error);
  }
  // A view that was refused must become smaller even if it fits by the estimate.
  const next = await planNewView(services, turn, plan.view === undefined ? 0 : attempt + 1);
  if (next !== undefined) services.counters.overflowsCured += 1;
  return next;
}

function createBody(services: ProxyServices, turn: Turn, plan: Plan, call: UpstreamCall): Uint8Array {
  const { view } = plan;
  if (view === undefined) return call.bytes;
  services.counters.replaced += 1;
  return Buffer.from(JSON.stringify(services.planner.compose(turn, { ...plan, view }, [])));
}

/**
 * Reads the first events of a stream until one decides whether the provider refuses the request, and puts them back. The
 * client gets no output later for it: these events precede the model's output.
 */
function peekRefusal(
  upstream: IncomingMessage,
  judge: (event: SseEvent) => { refusal?: string } | undefined,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const parser = createSseParser();
  const chunks: Buffer[] = [];
  const done = (refusal?: string): void => {
    upstream.off("readable", onReadable).off("end", onEnd).off("error", onEnd).off("close", onEnd);
    // Put back synchronously, before the stream can emit its end.
    if (chunks.length > 0 && !upstream.readableEnded) upstream.unshift(Buffer.concat(chunks));
    resolve(refusal);
  };
  const onEnd = (): void => done();
  const onReadable = (): void => {
    for (let chunk: Buffer | null = upstream.read(); chunk !== null; chunk = upstream.read()) {
      chunks.push(chunk);
      for (const event of parser.push(chunk)) {
        const verdict = judge(event);
        if (verdict === undefined) continue;
        done(verdict.refusal);
        return;
      }
    }
    // The stream ends without a verdict. Its events can be put back only before it emits its end.
    if (upstream.complete) done();
  };
  upstream.on("readable", onReadable).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  return promise;
}
