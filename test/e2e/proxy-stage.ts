/** A stage for tests of the model proxy: an engine, its gateway, and a model server behind it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigInput } from "../../src/config/index.ts";
import { type Gateway, type GatewayLogRecord, type GatewayOptions, startGateway } from "../../src/http/index.ts";
import { openVarve, type Session, type Varve } from "../../src/index.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../support/model-server/server.ts";

/** A deadline in milliseconds that only a broken test reaches: a busy machine changes nothing. */
const never = 600_000;

export interface ProxyStage {
  varve: Varve;
  gateway: Gateway;
  server: ModelServer;
  log: GatewayLogRecord[];
  /** Where clients of either provider are pointed at. */
  anthropic: string;
  openai: string;
  /** Every session the proxy made, the newest first. */
  sessions(): Promise<Session[]>;
  end(): Promise<void>;
}

export interface ProxyStageOptions {
  server: ModelServerOptions;
  proxy?: ConfigInput["proxy"];
  gateway?: ConfigInput["gateway"];
  models?: ConfigInput["models"];
  wrap?: (varve: Varve) => Varve;
  options?: GatewayOptions;
}

export async function setProxyStage(given: ProxyStageOptions): Promise<ProxyStage> {
  const server = await startModelServer(given.server);
  const home = mkdtempSync(join(tmpdir(), "varve-proxy-"));
  const log: GatewayLogRecord[] = [];
  const varve = await openVarve({
    home,
    background: false,
    config: {
      gateway: { requestsPerMinute: 1_000_000, ...given.gateway },
      ...(given.models ? { models: given.models } : {}),
      proxy: {
        anthropic: { baseUrl: server.url },
        openai: { baseUrl: `${server.url}/v1` },
        engineTimeoutMs: never,
        requestsPerMinute: 1_000_000,
        ...given.proxy,
      },
    },
  });
  const gateway = await startGateway(given.wrap ? given.wrap(varve) : varve, {
    port: 0,
    log: (record) => log.push(record),
    deadlines: { proxy: { ratioMs: never, recordMs: never } },
    ...given.options,
  });
  const base = `http://127.0.0.1:${gateway.port}`;
  return {
    varve,
    gateway,
    server,
    log,
    anthropic: `${base}/proxy/anthropic`,
    openai: `${base}/proxy/openai/v1`,
    sessions: async () => (await varve.sessions.list({ limit: 100 })).sessions,
    end: async () => {
      await gateway.close();
      await varve.close();
      await server.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Has the provider accept a client's key, without recording: nothing is stored or summarised for an unknown key. */
export async function introduceKey({ anthropic, server }: ProxyStage, apiKey: string): Promise<void> {
  const { options } = server;
  server.options = { limitTokens: 1_000_000 };
  const answer = await fetch(`${anthropic}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": apiKey, "x-varve-record": "off" },
    body: JSON.stringify({ model: "m", max_tokens: 1, messages: [{ role: "user", content: "hello" }] }),
  });
  if (!answer.ok) throw new Error(`The provider answered ${answer.status}.`);
  await answer.arrayBuffer();
  server.options = options;
  server.seen.length = 0;
}

/**
 * Does something until no compaction took place while it was done: right after one there is room for it. What it does has
 * to be the same each time.
 */
export async function betweenCompactions<T>(varve: () => Varve, work: () => Promise<T>): Promise<T> {
  const count = async (): Promise<number> => {
    const { sessions } = await varve().sessions.list({ limit: 100 });
    return sessions.reduce((sum, { compactionCount }) => sum + compactionCount, 0);
  };
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const before = await count();
    const result = await work();
    if ((await count()) === before) return result;
  }
  throw new Error("there was a compaction each time");
}

/** What the proxy says it did. */
export async function proxyCounts({ gateway }: ProxyStage): Promise<Record<string, number>> {
  const token = readFileSync(gateway.tokenFile ?? "", "utf8").trim();
  const answer = await fetch(`${gateway.url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
  const { proxy } = (await answer.json()) as { proxy?: Record<string, number> };
  return proxy ?? {};
}

/** The failures the gateway's log speaks of. */
export function failuresIn(log: readonly GatewayLogRecord[]): unknown[] {
  return log.flatMap((record) => (record.event === "error" ? [record] : []));
}

/** Some words that are not the same twice. */
export function words(count: number, seed: number): string {
  const stock = "river stone cloud maple ember quiet lantern harbor meadow copper winter orchard signal thread".split(
    " ",
  );
  return Array.from({ length: count }, (_, index) => stock[(seed * 7 + index * 3 + (index % 5)) % stock.length]).join(
    " ",
  );
}
