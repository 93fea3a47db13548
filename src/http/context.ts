import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Config } from "../config/index.ts";
import type { Clock, Random } from "../domain/index.ts";
import type { EngineEvent, Varve } from "../index.ts";
import type { GatewayAddress } from "./addresses.ts";
import type { BodyReader } from "./body-reader.ts";
import type { GatewayDeadlines } from "./deadlines.ts";
import type { EventBus } from "./events.ts";
import type { Logins } from "./logins.ts";
import type { Metrics } from "./metrics.ts";
import type { Observations } from "./observations.ts";
import type { RateLimiter } from "./rate-limit.ts";
import type { TokenRegistry } from "./token-registry.ts";
import type { TokenPrincipal } from "./tokens.ts";

/** A log record. It must never contain a token, a body or a query string. */
export type GatewayLogRecord =
  | { event: "request"; method: string; path: string; status: number; durationMs: number; caller?: string }
  | ({ event: EngineEvent["type"]; key: string } & Record<string, unknown>)
  | { event: "error"; method: string; path: string; error: unknown };

/** Counters of the model proxy since the gateway started. */
export interface ProxyNumbers {
  requests: number;
  replaced: number;
  compactions: number;
  overflowsCured: number;
  recalls: number;
  failures: number;
  notStored: number;
}

/** The state and services that all guards and routes of a gateway share. */
export interface GatewayContext {
  varve: Varve;
  settings: Config["gateway"];
  clock: Clock;
  random: Random;
  deadlines: GatewayDeadlines;
  /** The port is set once the server listens. */
  address: GatewayAddress;
  tokens: TokenRegistry;
  logins: Logins;
  limiter: RateLimiter;
  bodies: BodyReader;
  bus: EventBus;
  metrics: Metrics;
  observations: Observations;
  /** The connections of the Unix socket. */
  localConnections: WeakSet<object>;
  /** Called when the gateway closes. */
  closers: (() => Promise<void>)[];
  log: (record: GatewayLogRecord) => void;
  /** Undefined until the first request to the model proxy. */
  proxyCounters?: Readonly<ProxyNumbers>;
}

export interface GatewayEnv {
  Bindings: HttpBindings;
  Variables: {
    principal: TokenPrincipal;
    /** Ids for the audit log that are not in the request, such as those of created objects. */
    auditTargets?: Record<string, string>;
  };
}

export type GatewayApp = OpenAPIHono<GatewayEnv>;
