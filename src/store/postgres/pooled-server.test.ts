import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { askDirectly, type DirectAnswer, PooledServer, type ServerEndpoint } from "./pooled-server.ts";

const first = { host: "10.0.0.1", port: 5432 };
const second = { host: "10.0.0.2", port: 5432 };

/** A pooler and its servers, whose answers a test changes. */
function createPooler() {
  const state = {
    nowMs: 1_000,
    /** The server that statements reach over the pooler; "full" when none is reached in time. */
    located: first as ServerEndpoint | undefined | "full",
    direct: { [first.host]: "answered", [second.host]: "answered" } as Record<string, DirectAnswer>,
    statements: 0,
  };
  const server = new PooledServer({
    locate: async () => {
      state.statements += 1;
      if (state.located === "full") throw new Error("no answer within 3000 ms");
      return state.located;
    },
    ask: async ({ host }) => state.direct[host] ?? "silent",
    nowMs: () => state.nowMs,
  });
  return { state, server };
}

describe("the server behind a pooler", () => {
  test("is alive while it answers directly, however long the pooler lets statements wait", async () => {
    const { state, server } = createPooler();
    await server.learn(first);
    state.located = "full";
    expect(await server.check()).toBeUndefined();
  });

  test("is alive while it answers over the pooler, also when it no longer answers directly", async () => {
    const { state, server } = createPooler();
    await server.learn(first);
    state.direct[first.host] = "silent";
    expect(await server.check()).toBeUndefined();
  });

  test("is silent when it answers neither directly nor over the pooler", async () => {
    const { state, server } = createPooler();
    await server.learn(first);
    Object.assign(state, { located: "full", nowMs: 5_000 });
    state.direct[first.host] = "silent";
    expect(await server.check()).toEqual({ name: "10.0.0.1:5432", lostBeforeMs: 5_000 });
    // It stays the server that is asked, until the pooler names another one.
    state.nowMs = 9_000;
    expect(await server.check()).toEqual({ name: "10.0.0.1:5432", lostBeforeMs: 9_000 });
  });

  test("is silent when the pooler has another one, which keeps the statements that were sent since", async () => {
    const { state, server } = createPooler();
    await server.learn(first);
    Object.assign(state, { located: second, nowMs: 5_000 });
    state.direct[first.host] = "silent";
    expect(await server.check()).toEqual({ name: "10.0.0.1:5432", lostBeforeMs: 5_000 });
    // The next check is about the new server.
    state.located = "full";
    expect(await server.check()).toBeUndefined();
  });

  test("is still judged when it went silent while it was asked, and no longer when it never answers directly", async () => {
    const { state, server } = createPooler();
    await server.learn(first);
    state.direct[first.host] = "silent";
    await server.learn(first);
    state.located = "full";
    expect(await server.check()).toMatchObject({ name: "10.0.0.1:5432" });
    await server.learn(first);
    expect(await server.check()).toBeUndefined();
  });

  test("is not given up when it refuses connections, because those of the pooler are broken then", async () => {
    const { state, server } = createPooler();
    await server.learn(first);
    state.located = "full";
    state.direct[first.host] = "refused";
    expect(await server.check()).toBeUndefined();
  });

  test("is not judged when it never answered directly, or has no address", async () => {
    const { state, server } = createPooler();
    state.direct[first.host] = "silent";
    state.located = "full";
    for (const endpoint of [first, undefined]) {
      await server.learn(endpoint);
      expect(await server.check()).toBeUndefined();
    }
  });

  test("is looked for again after a time, and sooner after a failed connection", async () => {
    const { state, server } = createPooler();
    expect(server.isOutdated).toBe(false);
    server.expire();
    // Without a pooler nothing is looked for.
    state.nowMs += 3_600_000;
    expect(server.isOutdated).toBe(false);
    await server.learn(first);
    expect(server.isOutdated).toBe(false);
    state.nowMs += 10_000;
    expect(server.isOutdated).toBe(true);
    await server.check();
    expect(server.isOutdated).toBe(false);
    server.expire();
    state.nowMs += 1_000;
    expect(server.isOutdated).toBe(true);
    expect(state.statements).toBe(1);
  });
});

describe("a server that is asked directly", () => {
  const servers: Server[] = [];
  const listen = async (onConnection: (answer: (text: string) => void, end: () => void) => void): Promise<number> => {
    const server = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      onConnection(
        (text) => socket.once("data", () => socket.write(text)),
        () => socket.end(),
      );
    });
    servers.push(server);
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1", resolve);
    await promise;
    const address = server.address();
    return typeof address === "object" ? (address?.port ?? 0) : 0;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });
  const ask = (port: number, timeoutMs: number) => askDirectly({ host: "127.0.0.1", port }, timeoutMs);

  test("is alive when it answers the request for encryption", async () => {
    const port = await listen((answer) => answer("N"));
    expect(await ask(port, 60_000)).toBe("answered");
  });

  test("is silent when it accepts the connection and sends nothing", async () => {
    const port = await listen(() => undefined);
    expect(await ask(port, 50)).toBe("silent");
  });

  test("refuses when it ends the connection, or nothing listens", async () => {
    const port = await listen((_answer, end) => end());
    expect(await ask(port, 60_000)).toBe("refused");
    for (const server of servers.splice(0)) server.close();
    expect(await ask(port, 60_000)).toBe("refused");
  });
});
