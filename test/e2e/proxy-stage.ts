/** A stage for tests of the model proxy: an engine, its gateway, and a model server behind it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigInput } from "../../src/config/index.ts";
import { openVarve, type Session, type Varve } from "../../src/engine.ts";
import { type Gateway, type GatewayLogRecord, type GatewayOptions, startGateway } from "../../src/http/index.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../support/model-server/server.ts";

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
      proxy: { anthropic: { baseUrl: server.url }, openai: { baseUrl: `${server.url}/v1` }, ...given.proxy },
    },
  });
  const gateway = await startGateway(given.wrap ? given.wrap(varve) : varve, {
    port: 0,
    log: (record) => log.push(record),
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
