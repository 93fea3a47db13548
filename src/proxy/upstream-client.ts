import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { VarveError } from "../domain/index.ts";

/** Headers that concern one connection, or only this gateway. */
const droppedRequestHeaders = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "content-length",
  "expect",
]);
const ownHeaderPrefix = "x-varve-";
/** The cookies of a browser that is logged in to the gateway. */
const ownCookie = /^varve_/;
/** Headers of an answer that concern only the connection to the provider. */
const droppedAnswerHeaders = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "trailer",
  "upgrade",
]);

export interface UpstreamRequest {
  url: URL;
  method: string;
  headers: OutgoingHttpHeaders;
  body?: Uint8Array;
  signal: AbortSignal;
  timeoutMs: number;
}

/** Sends requests to providers over connections that are kept alive. */
export class UpstreamClient {
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https = new HttpsAgent({ keepAlive: true });

  async send(request: UpstreamRequest): Promise<IncomingMessage> {
    try {
      return await this.#once(request, false);
    } catch (error) {
      // The provider may have closed an idle connection just as it was reused; the retry opens a new one.
      if (!(error instanceof StaleConnection)) throw error;
      return this.#once(request, true);
    }
  }

  #once(
    { url, method, headers, body, signal, timeoutMs }: UpstreamRequest,
    isFresh: boolean,
  ): Promise<IncomingMessage> {
    const isPlain = url.protocol === "http:";
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = (isPlain ? httpRequest : httpsRequest)(url, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-length": body.byteLength }) },
      agent: isFresh ? false : isPlain ? this.#http : this.#https,
      signal,
      timeout: timeoutMs,
    });
    outgoing.on("timeout", () => outgoing.destroy(createTimeoutError(url, timeoutMs)));
    outgoing.on("response", resolve);
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (outgoing.reusedSocket && error.code === "ECONNRESET") reject(new StaleConnection());
      else reject(signal.aborted ? error : createUnreachableError(url, error));
    });
    outgoing.end(body);
    return promise;
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

class StaleConnection extends Error {}

/** A failure of the connection to the provider, with the HTTP status for the client. */
class UpstreamError extends VarveError {
  readonly #status: number;

  constructor(status: number, message: string, remedy: string, cause?: unknown) {
    super("MODEL_FAILED", message, { remedy, cause });
    this.#status = status;
  }

  override get httpStatus(): number {
    return this.#status;
  }
}

function createTimeoutError(url: URL, timeoutMs: number): UpstreamError {
  return new UpstreamError(
    504,
    `${url.host} sent nothing for ${timeoutMs} ms.`,
    "Try again, or raise proxy.upstreamTimeoutMs.",
  );
}

function createUnreachableError(url: URL, cause: NodeJS.ErrnoException): Error {
  if (cause instanceof VarveError) return cause;
  const why = cause.code ?? cause.message;
  return new UpstreamError(
    502,
    `${url.host} cannot be reached: ${why}.`,
    "Check the network, proxy.anthropic.baseUrl and proxy.openai.baseUrl.",
    cause,
  );
}

/** Copies the client's headers for the provider. Answers must not be compressed, because the proxy parses them. */
export function copyRequestHeaders(headers: Headers): OutgoingHttpHeaders {
  const connectionHeaders = new Set(splitList(headers.get("connection") ?? "", ","));
  const forwarded: OutgoingHttpHeaders = {};
  for (const [name, value] of headers) {
    if (droppedRequestHeaders.has(name) || connectionHeaders.has(name) || name.startsWith(ownHeaderPrefix)) continue;
    if (name !== "cookie") forwarded[name] = value;
  }
  const cookies = (headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  const foreign = cookies.filter((cookie) => cookie !== "" && !ownCookie.test(cookie));
  if (foreign.length > 0) forwarded.cookie = foreign.join("; ");
  forwarded["accept-encoding"] = "identity";
  return forwarded;
}

function splitList(text: string, mark: string): string[] {
  return text.split(mark).map((item) => item.trim().toLowerCase());
}

export function copyAnswerHeaders(upstream: IncomingMessage, options: { length?: boolean } = {}): Headers {
  const headers = new Headers();
  const raw = upstream.rawHeaders;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name, value] = [raw[index] ?? "", raw[index + 1] ?? ""];
    const lower = name.toLowerCase();
    if (droppedAnswerHeaders.has(lower) || (lower === "content-length" && options.length === false)) continue;
    headers.append(name, value);
  }
  return headers;
}

export async function readAll(upstream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of upstream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export function toBody(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
