import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type ConnectionLimits, createHttpServer, defaultConnectionLimits, listen } from "./server.ts";

/** A limit that only a broken test reaches. */
const never = 600_000;
const sockets: Socket[] = [];
let server: Server;

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

async function start(limits: Partial<ConnectionLimits>, listener: RequestListener = readAll): Promise<void> {
  const patient = { headersTimeoutMs: never, checkingMs: 20, bodyCheckMs: never, requestTimeoutMs: never };
  const all = { ...defaultConnectionLimits, maxConnections: 100, ...patient, ...limits };
  server = createHttpServer(listener, all);
  await listen(server, "127.0.0.1", 0);
}

const readAll: RequestListener = (request, response) => {
  request.resume();
  request.on("end", () => response.end("done"));
};
/** Answers before the body was read. */
const refuse: RequestListener = (_, response) => void response.writeHead(413).end("no");

async function open(text: string): Promise<Socket> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  socket.resume();
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}

describe("a server", () => {
  it.each(["", "POST / HTTP/1.1\r\nHost: a\r\nX-Slow: "])(
    "closes a connection without whole headers: %j",
    async (text) => {
      await start({ headersTimeoutMs: 50 });
      await once(await open(text), "close");
    },
  );

  it("closes a connection whose body stops", async () => {
    await start({ bodyCheckMs: 50 });
    await once(await open("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nx"), "close");
  });

  it("closes a connection whose body takes too long", async () => {
    await start({ requestTimeoutMs: 100, headersTimeoutMs: 100 });
    await once(await open("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nx"), "close");
  });

  it("closes connections above the limit and keeps the others", async () => {
    await start({ maxConnections: 2 });
    const kept = [await open(""), await open("")];
    await once(await open(""), "close");
    const answers = kept.map((socket) => once(socket, "data"));
    for (const socket of kept) socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    for (const [data] of await Promise.all(answers)) expect(String(data)).toContain("200 OK");
  });

  it("answers a client that sends the whole refused body before it reads, and keeps the connection", async () => {
    await start({ dropDelayMs: 1, dropMs: 1, dropsMax: 100_000 }, refuse);
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    sockets.push(socket);
    const size = 12_000_000;
    socket.pause();
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);
    // The buffers between the two hold less than this.
    await new Promise<void>((resolve) => socket.write(Buffer.alloc(size, "x"), () => resolve()));
    const answers: string[] = [];
    socket.on("data", (data) => answers.push(String(data)));
    socket.resume();
    await once(socket, "data");
    socket.write("GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    while ((answers.join("").match(/HTTP\/1\.1 413/g) ?? []).length < 2) await once(socket, "data");
  });

  it("closes a connection that goes on to send after it was refused", async () => {
    await start({ dropDelayMs: 1, dropMs: 1, dropsMax: 5 }, refuse);
    const socket = await open("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000000\r\n\r\n");
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const sendMore = (): void => {
      if (!socket.destroyed) socket.write(Buffer.alloc(100_000, "x"), sendMore);
    };
    sendMore();
    await closed;
    expect(socket.bytesWritten).toBeLessThan(100_000_000);
  });
});
