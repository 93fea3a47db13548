import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import type { GatewayLogRecord } from "./context.ts";
import { createLazyListener } from "./request-listener.ts";

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answerBody: RequestListener = async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  response.end(`${request.method} ${Buffer.concat(pieces)}`);
};

test("requests that arrive while the app is loaded wait for it, with their bodies, and load it once", async () => {
  const { promise: loaded, resolve } = Promise.withResolvers<RequestListener>();
  const { promise: secondArrived, resolve: arrive } = Promise.withResolvers<void>();
  const load = vi.fn(() => loaded);
  const { listener } = createLazyListener(load, () => undefined);
  let arrivals = 0;
  const url = await serve((request, response) => {
    listener(request, response);
    arrivals += 1;
    if (arrivals === 2) arrive();
  });
  expect(load).not.toHaveBeenCalled();
  const answers = ["one", "two"].map(async (body) => (await fetch(url, { method: "POST", body })).text());
  await secondArrived;
  resolve(answerBody);
  expect(await Promise.all(answers)).toEqual(["POST one", "POST two"]);
  expect(await (await fetch(url, { method: "POST", body: "three" })).text()).toBe("POST three");
  expect(load).toHaveBeenCalledOnce();
});

test("an app that cannot be loaded is logged, and every request is answered with what to do", async () => {
  const records: GatewayLogRecord[] = [];
  const failure = new Error("Cannot find module");
  const { listener, settle } = createLazyListener(
    () => Promise.reject(failure),
    (record) => records.push(record),
  );
  const url = await serve(listener);
  for (let round = 0; round < 2; round += 1) {
    const answer = await fetch(url);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      error: { code: "INTERNAL", remedy: expect.stringContaining("Restart the gateway") },
    });
  }
  await settle();
  expect(records).toHaveLength(2);
  expect(records[0]).toMatchObject({ event: "error", error: failure });
});

test("a request whose client has gone is not passed on", async () => {
  const { promise: loaded, resolve } = Promise.withResolvers<RequestListener>();
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
  const { listener, settle } = createLazyListener(
    () => loaded,
    () => undefined,
  );
  const client = new AbortController();
  const url = await serve((request, response) => {
    response.once("close", leave);
    listener(request, response);
    client.abort();
  });
  await expect(fetch(url, { signal: client.signal })).rejects.toThrow();
  await gone;
  const app = vi.fn();
  resolve(app);
  await settle();
  expect(app).not.toHaveBeenCalled();
});
