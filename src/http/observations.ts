import type { MiddlewareHandler } from "hono";
import type { Clock } from "../domain/index.ts";

/** A record of the gateway's log, as far as it tells of a fault. */
interface LogRecord {
  event: string;
  method?: string;
  path?: string;
  status?: number;
  key?: string;
  error?: unknown;
}

export interface SeenClient {
  name: string;
  /** Through which door it came. */
  kind: "hooks" | "mcp" | "proxy" | "api" | "console";
  lastAt: number;
  requests: number;
}

export interface Warning {
  time: number;
  event: string;
  text: string;
}

/** Observations of the gateway since it started: clients and failures. */
export interface Observations {
  clients(): SeenClient[];
  warnings(): Warning[];
  observe: MiddlewareHandler;
  record(record: LogRecord): void;
}

const clientsMax = 100;
const warningsMax = 200;
const textMax = 500;

export function createObservations(clock: Clock): Observations {
  const clients = new Map<string, SeenClient>();
  const warnings: Warning[] = [];
  return {
    clients: () => [...clients.values()].sort((a, b) => b.lastAt - a.lastAt),
    warnings: () => warnings.toReversed(),
    observe: async (c, next) => {
      await next();
      const kind = findKind(c.req.path, c.req.header("sec-fetch-site") !== undefined);
      if (kind === undefined || c.res.status === 401 || c.res.status === 403) return;
      // The agent's name and version, without the rest, which may be long.
      const name = /^[\w .@/+-]{1,60}/.exec(c.req.header("user-agent") ?? "")?.[0].trim() || "without a name";
      const id = `${kind} ${name}`;
      const known = clients.get(id) ?? { name, kind, lastAt: 0, requests: 0 };
      if (clients.size >= clientsMax && !clients.has(id)) return;
      clients.set(id, { ...known, lastAt: clock.now(), requests: known.requests + 1 });
    },
    record(record) {
      const text = describeFault(record);
      if (text === undefined) return;
      warnings.push({ time: clock.now(), event: record.event, text: text.slice(0, textMax) });
      if (warnings.length > warningsMax) warnings.shift();
    },
  };
}

function findKind(path: string, isBrowser: boolean): SeenClient["kind"] | undefined {
  if (path.startsWith("/proxy/")) return "proxy";
  if (path === "/mcp") return "mcp";
  if (path.startsWith("/api/hooks")) return "hooks";
  if (path.startsWith("/api/")) return isBrowser ? "console" : "api";
  return undefined;
}

function describeFault({ event, method, path, status = 0, key, error }: LogRecord): string | undefined {
  if (event === "request") return status >= 500 ? `${method} answered ${status}` : undefined;
  if (event !== "error" && !event.includes("failed")) return undefined;
  const message = error instanceof Error ? error.message : error === undefined ? undefined : String(error);
  return [method, path, key, message].filter(Boolean).join(" ");
}
