/**
 * A minimal HTTP client for the gateway. A hook delays the user's prompt, and Node's own HTTP module takes longer to load
 * than everything else together. HTTP 1.0 has no chunks and ends with the connection, so a plain socket is enough.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";

export interface GatewayAddress {
  url: URL;
  token: string;
  /** The secret of the home, by which the gateway proves that it is the one that reads this home. */
  secret: string;
}

export type GatewayAnswer =
  /** With the JSON of the answer. */
  | { status: "answered"; output: unknown }
  /** There is no gateway, or this process may not use it: the caller opens the engine instead. */
  | { status: "absent"; because: string }
  /** Another program uses the port; it has been told nothing. */
  | { status: "unproven"; because: string };

export interface GatewayQuestion {
  path: string;
  body: string;
  /** How long to wait for the proof, in milliseconds. */
  proofMs: number;
  /** The longest answer that is read; 1 MiB when absent. */
  answerBytesMax?: number;
}

const proofPath = "/gateway/proof";
const hookAnswerBytesMax = 1024 * 1024;
const proofBytesMax = 16 * 1024;

/** Reads the address and the token of the gateway that runs for a home; undefined when none runs. */
export function findGateway(home: string): GatewayAddress | undefined {
  const text = readFileIfExists(join(home, "gateway.json"));
  const token = readFileIfExists(join(home, "gateway-token"))?.trim();
  const secret = readFileIfExists(join(home, "gateway-secret"))?.trim();
  // The token is sent in a header, so it must not contain a line break.
  if (text === undefined || secret === undefined || token === undefined || !/^[\x21-\x7e]+$/.test(token)) {
    return undefined;
  }
  const { url, pid } = JSON.parse(text) as { url?: unknown; pid?: unknown };
  if (typeof url !== "string" || typeof pid !== "number" || !isAlive(pid)) return undefined;
  // A hook has no time for the handshake of TLS.
  return url.startsWith("http:") ? { url: new URL(url), token, secret } : undefined;
}

/** Asks the gateway after it has proved itself on the same connection: nothing secret is sent before. */
export async function askGateway(address: GatewayAddress, question: GatewayQuestion): Promise<GatewayAnswer> {
  const { url, token } = address;
  const port = Number(url.port || 80);
  const connection = new Connection(connect({ host: url.hostname.replaceAll(/[[\]]/g, ""), port }));
  try {
    const fault = await findProofFault(connection, address, port, question.proofMs);
    if (fault !== undefined) return fault;
    const { path, body } = question;
    connection.write(
      [
        `POST ${path} HTTP/1.0`,
        `Host: ${url.host}`,
        `Authorization: Bearer ${token}`,
        "Content-Type: application/json",
        `Content-Length: ${Buffer.byteLength(body)}`,
      ],
      body,
    );
    return readAnswer(await connection.readToEnd(question.answerBytesMax ?? hookAnswerBytesMax));
  } finally {
    connection.close();
  }
}

/** The same result as `createGatewayProof` of the gateway, whose module takes too long to load in a hook. */
function createProof(secret: string, port: number, nonce: string): Buffer {
  return createHmac("sha256", secret).update(`varve gateway\n${port}\n${nonce}`).digest();
}

async function findProofFault(
  connection: Connection,
  { url, secret }: GatewayAddress,
  port: number,
  proofMs: number,
): Promise<GatewayAnswer | undefined> {
  const nonce = randomBytes(16).toString("hex");
  connection.write([`GET ${proofPath}?nonce=${nonce} HTTP/1.0`, `Host: ${url.host}`, "Connection: keep-alive"], "");
  const timer = setTimeout(() => connection.fail(new Error("it gives no proof")), proofMs);
  try {
    const text = await connection.readMessage(proofBytesMax);
    const given = Buffer.from(/"proof":"([0-9a-f]{64})"/.exec(text)?.[1] ?? "", "hex");
    const expected = createProof(secret, port, nonce);
    if (given.length === expected.length && timingSafeEqual(given, expected)) return undefined;
    return { status: "unproven", because: `the program on port ${port} is not the gateway of this home` };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ECONNREFUSED") {
      return { status: "absent", because: "nothing listens on its port" };
    }
    const why = error instanceof Error ? error.message : String(error);
    return { status: "unproven", because: `the program on port ${port} is not the gateway of this home: ${why}` };
  } finally {
    clearTimeout(timer);
  }
}

/** A socket whose text is read as HTTP messages. */
class Connection {
  readonly #socket: Socket;
  #text = "";
  #bytes = 0;
  #bytesMax = proofBytesMax;
  #ended = false;
  #error: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    const decoder = new TextDecoder();
    socket.on("error", (error) => this.fail(error));
    socket.on("end", () => {
      this.#ended = true;
      this.#wake();
    });
    socket.on("data", (chunk: Buffer) => {
      this.#bytes += chunk.length;
      if (this.#bytes > this.#bytesMax) return this.fail(new Error("the gateway's answer is too long"));
      this.#text += decoder.decode(chunk, { stream: true });
      this.#wake();
    });
  }

  write(head: readonly string[], body: string): void {
    this.#socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
    this.#wake();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Reads a message with a Content-Length of ASCII text. */
  async readMessage(bytesMax: number): Promise<string> {
    this.#bytesMax = bytesMax;
    for (;;) {
      const end = this.#text.indexOf("\r\n\r\n");
      const length =
        end === -1 ? undefined : /\r\ncontent-length: (\d{1,6})\r\n/i.exec(`${this.#text.slice(0, end)}\r\n`);
      if (end !== -1 && !length) throw new Error("its answer has no length");
      const size = end + 4 + Number(length?.[1]);
      if (end !== -1 && this.#text.length >= size) {
        const message = this.#text.slice(0, size);
        this.#text = this.#text.slice(size);
        return message;
      }
      if (this.#ended) throw new Error("it closed the connection");
      await this.#more();
    }
  }

  async readToEnd(bytesMax: number): Promise<string> {
    this.#bytesMax = bytesMax;
    while (!this.#ended) await this.#more();
    return this.#text;
  }

  async #more(): Promise<void> {
    if (this.#error) throw this.#error;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#error) throw this.#error;
  }
}

function readAnswer(text: string): GatewayAnswer {
  const status = Number(/^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1]);
  // A gateway with another token or an older version cannot answer, but the store can still be opened.
  if ([401, 403, 404, 405].includes(status)) return { status: "absent", because: `it answers with status ${status}` };
  if (status !== 200)
    throw new Error(
      `the gateway answers ${Number.isNaN(status) ? "with something other than HTTP" : `with status ${status}`}`,
    );
  return { status: "answered", output: JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4)) };
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
