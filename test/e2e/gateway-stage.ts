/** Stages for tests of the gateway: an engine in a folder of its own, and a client that may send anything. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigInput } from "../../src/config/index.ts";
import { type Gateway, type GatewayLogRecord, type GatewayOptions, startGateway } from "../../src/http/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: unknown;
}

export interface Sent {
  token?: string;
  headers?: Record<string, string>;
  /** Sent as JSON; a string or bytes as they are. */
  body?: unknown;
}

export interface Stage {
  varve: Varve;
  gateway: Gateway;
  home: string;
  log: GatewayLogRecord[];
  send(method: string, path: string, sent?: Sent): Promise<Answer>;
  end(): Promise<void>;
}

export const sha256 = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;

export function scratchHome(): string {
  return mkdtempSync(join(tmpdir(), "varve-gateway-"));
}

export async function setStage(
  gatewaySettings: ConfigInput["gateway"] = {},
  options: GatewayOptions & { wrap?: (varve: Varve) => Varve; config?: ConfigInput } = {},
): Promise<Stage> {
  const home = scratchHome();
  const varve = await openVarve({ home, background: false, config: { ...options.config, gateway: gatewaySettings } });
  const log: GatewayLogRecord[] = [];
  const { wrap, config: _, ...given } = options;
  const clear = async (): Promise<void> => {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  };
  const record = (one: GatewayLogRecord): unknown => log.push(one);
  const started = startGateway(wrap ? wrap(varve) : varve, { port: 0, log: record, ...given });
  const gateway = await started.catch(async (error: unknown) => {
    await clear();
    throw error;
  });
  return {
    varve,
    gateway,
    home,
    log,
    send: (method, path, sent) => send(gateway.port, method, path, sent),
    end: async () => {
      await gateway.close();
      await clear();
    },
  };
}

/** One request over a bare connection: `fetch` would not let a test lie about its Host. */
function send(port: number, method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const raw = typeof sent.body === "string" || Buffer.isBuffer(sent.body) ? sent.body : JSON.stringify(sent.body);
  const headers: Record<string, string> = { ...(raw === undefined ? {} : { "content-type": "application/json" }) };
  if (sent.token !== undefined) headers.authorization = `Bearer ${sent.token}`;
  if (raw !== undefined) headers["content-length"] = String(Buffer.byteLength(raw));
  return new Promise((resolve, reject) => {
    const outgoing = request({
      port,
      host: "127.0.0.1",
      method,
      path,
      agent: false,
      headers: { ...headers, ...sent.headers },
    });
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      const chunks: Buffer[] = [];
      const done = (): void => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      };
      response.on("error", reject);
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", done);
      // An event stream does not end by itself; that it began is the answer.
      if (response.headers["content-type"] === "text/event-stream") {
        done();
        outgoing.destroy();
      }
    });
    outgoing.end(raw);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
