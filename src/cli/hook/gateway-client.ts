/** A client of the gateway that loads nothing but Node: a hook has to answer before the person notices it. */
import { readFileSync } from "node:fs";
import { request } from "node:http";
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
  if (text === undefined || token === undefined) return undefined;
  const { url, pid } = JSON.parse(text) as { url?: unknown; pid?: unknown };
  // A port may belong to another program once its gateway is gone, and the token is not for that one.
  if (typeof url !== "string" || typeof pid !== "number" || !isAlive(pid)) return undefined;
  return { url: new URL(url), token };
}

export function askGateway(place: Place, path: string, body: string): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, place.url), {
      method: "POST",
      agent: false,
      headers: {
        authorization: `Bearer ${place.token}`,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      },
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") resolve({ status: "absent", because: "nobody listens" });
      else reject(error);
    });
    outgoing.on("response", (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("error", reject);
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > answerBytesMax) outgoing.destroy(new Error("the gateway's answer is too long"));
        else chunks.push(chunk);
      });
      response.on("end", () => {
        const status = response.statusCode ?? 0;
        // Another token or an older gateway: it cannot be asked, and the store still can.
        if ([401, 403, 404, 405].includes(status)) {
          return resolve({ status: "absent", because: `it answers ${status}` });
        }
        try {
          const answer = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { output?: unknown };
          if (status !== 200) throw new Error(`the gateway answers ${status}`);
          resolve({ status: "answered", output: answer.output ?? undefined });
        } catch (error) {
          reject(error);
        }
      });
    });
    outgoing.end(body);
  });
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
