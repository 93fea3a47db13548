import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Config } from "../config/index.ts";
import type { Clock } from "../domain/index.ts";
import type { EngineEvent, Varve } from "../engine.ts";
import type { ProxyCounters } from "../proxy/index.ts";
import type { Place } from "./addresses.ts";
import type { GatewayDeadlines } from "./deadlines.ts";
import type { EventBus } from "./events.ts";
import type { Logins } from "./logins.ts";
import type { Metrics } from "./metrics.ts";
import type { RateLimiter } from "./rate-limit.ts";
import type { Token, TokenPrincipal } from "./tokens.ts";

/** What the gateway tells its log. Never a token, never a body, never a query. */
export type GatewayLogRecord =
  | { event: "request"; method: string; path: string; status: number; durationMs: number; caller?: string }
  | ({ event: EngineEvent["type"]; key: string } & Record<string, unknown>)
  | { event: "error"; method: string; path: string; error: unknown };

/** What all parts of the gateway share. */
export interface GatewayHost {
  varve: Varve;
  settings: Config["gateway"];
  clock: Clock;
  deadlines: GatewayDeadlines;
  /** Filled in when the port is known. */
  place: Place;
  tokens: readonly Token[];
  logins: Logins;
  limiter: RateLimiter;
  bus: EventBus;
  metrics: Metrics;
  /** What is to be closed with the gateway. */
  closers: (() => Promise<void>)[];
  log: (record: GatewayLogRecord) => void;
  /** What the model proxy did, once somebody came to it. */
  proxyCounters?: Readonly<ProxyCounters>;
}

export interface GatewayEnv {
  Bindings: HttpBindings;
  Variables: { principal: TokenPrincipal };
}

export type GatewayApp = OpenAPIHono<GatewayEnv>;
