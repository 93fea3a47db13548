/**
 * A minimal HTTP client for the gateway. A hook delays the user's prompt, and Node's own HTTP module takes longer to load
 * than everything else together. HTTP 1.0 has no chunks and ends with the connection, so a plain socket is enough.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

export interface GatewayAddress {
  url: URL;
  token: string;
}

export type GatewayAnswer =
  | { status: "answered"; output: unknown }
  /** There is no gateway, or this hook may not use it: the caller opens the engine instead. */
  | { status: "absent"; because: string };

const answerBytesMax = 1024 * 1024;

/** Reads the address and the token of the gateway that runs for a home; undefined when none runs. */
export function findGateway(home: string): GatewayAddress | undefined {
  const text = readFileIfExists(join(home, "gateway.json"));
  const token = readFileIfExists(join(home, "gateway-token"))?.trim();
  // The token is sent in a header, so it must not contain a line break.
  if (text === undefined || token === undefined || !/^[\x21-\x7e]+$/.test(token)) return undefined;
  const { url, pid } = JSON.parse(text) as { url?: unknown; pid?: unknown };
  // After the gateway has stopped, another program may use its port and must not get the token.
  if (typeof url !== "string" || typeof pid !== "number" || !isAlive(pid)) return undefined;
  // A hook has no time for the handshake of TLS.
  return url.startsWith("http:") ? { url: new URL(url), token } : undefined;
}

export function askGateway({ url, token }: GatewayAddress, path: string, body: string): Promise<GatewayAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname.replaceAll(/[[\]]/g, ""), port: Number(url.port || 80) });
    const chunks: Buffer[] = [];
    let bytes = 0;
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") resolve({ status: "absent", because: "nothing listens on its port" });
      else reject(error);
    });
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > answerBytesMax) socket.destroy(new Error("the gateway's answer is too long"));
      else chunks.push(chunk);
    });
    socket.on("end", () => {
      try {
        resolve(readAnswer(Buffer.concat(chunks).toString("utf8")));
      } catch (error) {
        reject(error);
      }
    });
    const head = [
      `POST ${path} HTTP/1.0`,
      `Host: ${url.host}`,
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  });
}

function readAnswer(text: string): GatewayAnswer {
  const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1]);
  // A gateway with another token or an older version cannot answer, but the store can still be opened.
  if ([401, 403, 404, 405].includes(status)) return { status: "absent", because: `it answers with status ${status}` };
  if (status !== 200)
    throw new Error(
      `the gateway answers ${Number.isNaN(status) ? "with something other than HTTP" : `with status ${status}`}`,
    );
  const answer = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4)) as { output?: unknown };
  return { status: "answered", output: answer.output ?? undefined };
}

function readFileIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
