import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { JsonObject } from "../domain/index.ts";
import type { Varve } from "../index.ts";
import type { ProxyCounters } from "./counters.ts";
import type { Plan, Planner, Turn } from "./planner.ts";
import type { RoundsResult } from "./rounds.ts";
import type { UpstreamClient } from "./upstream-client.ts";

/** The services that handle a request, shared by all requests of a proxy. */
export interface ProxyServices {
  varve: Varve;
  planner: Planner;
  upstreams: UpstreamClient;
  counters: ProxyCounters;
  fail(what: string, error: unknown): void;
  /** Records that the provider accepted the credential of a request. */
  acceptCredential(turn: Turn): void;
  /** Whether the history of a request may be stored before the provider answers it. */
  mayStoreFirst(turn: Turn): Promise<boolean>;
  /**
   * Resolves when the request and its reply are written, or when that failed and was reported. Without bodies, the
   * provider accepted the request and its reply could not be read: only the request is written.
   */
  recordReply(turn: Turn, plan: Plan, bodies: readonly JsonObject[], result: ReplyOutcome): Promise<void>;
}

export interface ReplyOutcome {
  insertion?: RoundsResult["insertion"];
  ours: ReadonlySet<string>;
  isWhole: boolean;
}

export interface UpstreamCall {
  url: URL;
  method: string;
  headers: OutgoingHttpHeaders;
  /** Puts a renewed credential into the headers; absent when the credential is the client's. */
  renewCredential?(): Promise<boolean>;
  /** The client's body, unchanged. */
  bytes: Uint8Array;
  signal: AbortSignal;
  /** Breaks the connection to the client off, as the provider broke its own. */
  breakOff(): void;
}

/** Sends a body to the provider; retries once with a renewed credential when the gateway's own has expired. */
export async function sendUpstream(
  { upstreams, varve }: Pick<ProxyServices, "upstreams" | "varve">,
  { url, method, headers, signal, renewCredential }: UpstreamCall,
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
