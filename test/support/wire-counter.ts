/** Stands between an engine and a PostgreSQL server, and records every statement that is executed over the wire. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface WireCounter {
  /** The database, through the counter. */
  url: string;
  /** The statements since the last `reset`, in the order they were sent. */
  readonly statements: readonly string[];
  /** How often a client waited for the server since the last `reset`. */
  readonly roundTrips: number;
  reset(): void;
  close(): Promise<void>;
}

const headLength = 5;

export async function startWireCounter(database: string): Promise<WireCounter> {
  const target = new URL(database);
  let statements: string[] = [];
  let roundTrips = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const read = createMessageReader((type, body) => {
      if (type === "execute") statements.push(body);
      if (type === "wait") roundTrips += 1;
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (data: Buffer) => {
      read(data);
      upstream.write(data);
    });
    upstream.on("data", (data: Buffer) => client.write(data));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(database);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    get statements() {
      return statements;
    },
    get roundTrips() {
      return roundTrips;
    },
    reset() {
      statements = [];
      roundTrips = 0;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Reads the messages of one client: a first one without a type, then a letter, a length and a body each. */
function createMessageReader(onMessage: (type: "execute" | "wait", text: string) => void): (data: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  let isStarted = false;
  /** The texts of parsed statements by name, and of the statement that the portal was bound to. */
  const parsed = new Map<string, string>();
  let bound = "";
  const handle = (letter: string, body: Buffer): void => {
    const [first = "", second = ""] = body.toString("utf8").split("\0");
    if (letter === "P") parsed.set(first, second);
    if (letter === "B") bound = parsed.get(second) ?? `unknown statement ${second}`;
    if (letter === "E") onMessage("execute", bound);
    if (letter === "Q") onMessage("execute", first);
    if (letter === "Q" || letter === "S") onMessage("wait", "");
  };
  return (data) => {
    pending = Buffer.concat([pending, data]);
    if (!isStarted && pending.length >= 4 && pending.length >= pending.readInt32BE(0)) {
      pending = pending.subarray(pending.readInt32BE(0));
      isStarted = true;
    }
    while (isStarted && pending.length >= headLength) {
      const length = 1 + pending.readInt32BE(1);
      if (pending.length < length) return;
      handle(String.fromCharCode(pending[0] ?? 0), pending.subarray(headLength, length));
      pending = pending.subarray(length);
    }
  };
}
