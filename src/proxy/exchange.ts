import type { IncomingMessage } from "node:http";
import { redactSecrets } from "../domain/index.ts";
import { isContextOverflow } from "../engine.ts";
import { answerWith } from "./answer.ts";
import { withDeadline } from "./deadline.ts";
import { type ExchangeHost, isEventStream, type Sending, send } from "./exchange-host.ts";
import { answeredHeaders, asBody, readAll } from "./forward.ts";
import { peekRefusal } from "./peek.ts";
import type { Plan, Turn } from "./planner.ts";
import { readOverflow } from "./window.ts";

const attemptsMax = 4;
/** What the log is told of a refusal. */
const refusalShown = 200;
/** Refusals with these have nothing to do with what was sent. */
const notAboutTheBody = new Set([401, 402, 403, 404, 407, 408, 429]);

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
    host.fail("have a changed request taken", new Error(`${status} ${redactSecrets(text.slice(0, refusalShown))}`));
    return host.planner.planAfterRefusal(turn, plan) ?? "as it came";
  }
  try {
    await host.planner.learn(turn, readOverflow(text), plan);
  } catch (error) {
    host.fail("note the window of a model", error);
  }
  // A view that was refused must become smaller, whatever the estimates say of it.
  const next = await planAnew(host, turn, plan.view === undefined ? 0 : attempt + 1);
  if (next !== undefined) host.counters.overflowsCured += 1;
  return next;
}

function bytesOf(host: ExchangeHost, turn: Turn, plan: Plan, sending: Sending): Uint8Array {
  const { view } = plan;
  if (view === undefined) return sending.bytes;
  host.counters.replaced += 1;
  return Buffer.from(JSON.stringify(host.planner.compose(turn, { ...plan, view }, [])));
}
