/**
 * A client of the gateway that loads next to nothing: a hook has to answer before the person notices it, and Node's own
 * HTTP takes longer to load than everything else together. One request and one answer in HTTP 1.0, which has no chunks
 * and ends with the connection, need no more than a socket.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

export interface Place {
  url: URL;
  token: string;
}

export type Asked =
  | { status: "answered"; output: unknown }
  /** There is no gateway, or none that this hook may use: the engine is opened in its place. */
  | { status: "absent"; because: string };

const answerBytesMax = 1024 * 1024;

/** Where the gateway of a home is, and the token of this machine; undefined when it does not run. */
export function findGateway(home: string): Place | undefined {
  const text = readIfThere(join(home, "gateway.json"));
  const token = readIfThere(join(home, "gateway-token"))?.trim();
  // What stands in a header must not begin another one.
  if (text === undefined || token === undefined || !/^[\x21-\x7e]+$/.test(token)) return undefined;
  const { url, pid } = JSON.parse(text) as { url?: unknown; pid?: unknown };
  // A port may belong to another program once its gateway is gone, and the token is not for that one.
  if (typeof url !== "string" || typeof pid !== "number" || !isAlive(pid)) return undefined;
  return { url: new URL(url), token };
}

export function askGateway({ url, token }: Place, path: string, body: string): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname.replaceAll(/[[\]]/g, ""), port: Number(url.port || 80) });
    const chunks: Buffer[] = [];
    let bytes = 0;
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") resolve({ status: "absent", because: "nobody listens" });
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

function readAnswer(text: string): Asked {
  const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1]);
  // Another token or an older gateway: it cannot be asked, and the store still can.
  if ([401, 403, 404, 405].includes(status)) return { status: "absent", because: `it answers ${status}` };
  if (status !== 200) throw new Error(`the gateway answers ${Number.isNaN(status) ? "something else" : status}`);
  const answer = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4)) as { output?: unknown };
  return { status: "answered", output: answer.output ?? undefined };
}

function readIfThere(file: string): string | undefined {
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
