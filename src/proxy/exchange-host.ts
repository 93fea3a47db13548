import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { JsonObject } from "../domain/index.ts";
import type { Varve } from "../engine.ts";
import type { ProxyCounters } from "./counters.ts";
import type { Upstreams } from "./forward.ts";
import type { Plan, Planner, Turn } from "./planner.ts";
import type { RoundsResult } from "./rounds.ts";

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
  method: string;
  headers: OutgoingHttpHeaders;
  /** Puts another credential into the headers after one was refused; absent where the credential is the client's. */
  renewCredential?(): Promise<boolean>;
  /** The client's own bytes. */
  bytes: Uint8Array;
  signal: AbortSignal;
  /** Breaks the connection to the client, as the provider broke its own. */
  breakOff(): void;
}

/** Sends a body to the provider a request is meant for; once more where a credential of our own had run out. */
export async function send(
  { upstreams, varve }: Pick<ExchangeHost, "upstreams" | "varve">,
  { url, method, headers, signal, renewCredential }: Sending,
  body?: Uint8Array,
): Promise<IncomingMessage> {
  const timeoutMs = varve.settings.config.proxy.upstreamTimeoutMs;
  const ask = () => upstreams.send({ url, method, headers, body, signal, timeoutMs });
  const upstream = await ask();
  if (upstream.statusCode !== 401 || !(await renewCredential?.())) return upstream;
  upstream.destroy();
  return ask();
}

export function isEventStream(upstream: IncomingMessage): boolean {
  return (upstream.headers["content-type"] ?? "").includes("text/event-stream");
}
