import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { JsonShapeCheck } from "../domain/index.ts";
import { type BodyReader, createBodyReader } from "./body-reader.ts";

const kilobytes = (count: number) => Buffer.alloc(count * 1024, "x");
const settle = async () => {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A request whose body the test sends piece by piece. */
function openRequest(headers: Record<string, string> = {}) {
  const incoming = Object.assign(new Readable({ read: () => undefined }), { headers });
  return {
    send: (piece: Uint8Array) => incoming.push(piece),
    end: () => incoming.push(null),
    stream: incoming,
    incoming: incoming as unknown as IncomingMessage,
  };
}

/** A reader whose pauses end when the test says so. */
function createReader() {
  const rests: { ms: number; end(): void }[] = [];
  const refused: string[] = [];
  const reader = createBodyReader({
    rest: (ms) => new Promise<void>((resolve) => rests.push({ ms, end: resolve })),
    onRefused: (caller) => refused.push(caller),
  });
  return { rests, reader, refused };
}

function read(reader: BodyReader, incoming: IncomingMessage, caller: string, bytesMax = 10_000_000) {
  return reader.read(incoming, { caller, bytesMax, setting: "gateway.bodyLimitBytes" });
}

describe("a reader of bodies", () => {
  it("reads two large bodies at a time, and small ones at once", async () => {
    const { rests, reader } = createReader();
    const large = [openRequest(), openRequest(), openRequest()];
    const read3 = large.map(({ incoming }, index) => read(reader, incoming, `caller ${index}`));
    for (const { send } of large) send(kilobytes(100));
    await settle();
    for (const { send } of large) send(kilobytes(200));
    await settle();
    // The third waits: what arrives of it is not read.
    expect(large.map(({ stream }) => stream.readableLength > 0)).toEqual([false, false, true]);

    const small = openRequest();
    const readSmall = read(reader, small.incoming, "caller 9");
    small.send(kilobytes(10));
    small.end();
    expect((await readSmall).byteLength).toBe(10 * 1024);

    large[0]?.end();
    expect((await read3[0])?.byteLength).toBe(300 * 1024);
    await settle();
    expect(large[2]?.stream.readableLength).toBeGreaterThan(0);
    expect(rests).toHaveLength(1);
    rests[0]?.end();
    await settle();
    expect(large[2]?.stream.readableLength).toBe(0);
    large[2]?.end();
    expect((await read3[2])?.byteLength).toBe(300 * 1024);
    large[1]?.end();
    await read3[1];
    for (const { end } of rests) end();
  });

  it("takes one large body of a caller at a time", async () => {
    const { reader } = createReader();
    const [first, second, other] = [openRequest(), openRequest(), openRequest()];
    for (const { incoming } of [first, second]) read(reader, incoming, "greedy").catch(() => undefined);
    const last = read(reader, other.incoming, "other");
    for (const { send } of [first, second, other]) send(kilobytes(100));
    await settle();
    for (const { send } of [first, second, other]) send(kilobytes(10));
    other.end();
    expect((await last).byteLength).toBe(110 * 1024);
    await settle();
    expect([first.stream.readableLength, second.stream.readableLength > 0]).toEqual([0, true]);
  });

  it("refuses a body that announces or has too many bytes, and leaves the connection open", async () => {
    const { reader, refused } = createReader();
    const announced = openRequest({ "content-length": "2000" });
    const error = { code: "TOO_LARGE", details: { limitBytes: 1000 } };
    await expect(read(reader, announced.incoming, "a", 1000)).rejects.toMatchObject(error);
    expect(refused).toEqual([]);
    const sent = openRequest();
    const reading = read(reader, sent.incoming, "a", 1000);
    sent.send(kilobytes(1));
    await expect(reading).rejects.toMatchObject(error);
    expect(refused).toEqual(["a"]);
    expect(sent.stream.destroyed).toBe(false);
  });

  it("stops to read JSON that is too complex", async () => {
    const { reader, refused } = createReader();
    const request = openRequest();
    const shape = new JsonShapeCheck({ nodesMax: 100, depthMax: 5 });
    const reading = reader.read(request.incoming, { caller: "a", bytesMax: 10_000_000, setting: "s", shape });
    request.send(Buffer.from("[[[[[[[["));
    await expect(reading).rejects.toMatchObject({ code: "BAD_REQUEST" });
    expect(refused).toEqual(["a"]);
    request.send(kilobytes(10));
    await settle();
    expect(request.stream.readableLength).toBe(10 * 1024);
    expect(request.stream.destroyed).toBe(false);
  });

  it("lets a large body that waits go away", async () => {
    const { reader } = createReader();
    const [first, second] = [openRequest(), openRequest()];
    read(reader, first.incoming, "a").catch(() => undefined);
    const gone = new AbortController();
    const request = { caller: "a", bytesMax: 10_000_000, setting: "s", signal: gone.signal };
    const reading = reader.read(second.incoming, request);
    for (const { send } of [first, second]) send(kilobytes(100));
    await settle();
    gone.abort();
    await expect(reading).rejects.toThrow();
  });
});
