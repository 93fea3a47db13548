/** Searches whose threads read the SQLite file by themselves. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { holdTimeouts } from "../../../domain/held-timeouts.test-util.ts";
import { openVarve, type Session, type Varve } from "../../../index.ts";
import type { MatchRequest } from "./match-protocol.ts";
import { MatchThread } from "./match-thread.ts";

const pattern = "[A-Z]{2}\\d{4}";
const large = `${"x ".repeat(200_000)} QX1111`;

let home: string;
let varve: Varve;
let session: Session;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "varve-thread-reads-"));
  varve = await openVarve({ home, background: false, config: { context: { largeFileTokenThreshold: 1_000_000 } } });
  session = await varve.sessions.resolve({ key: "agent:main:main" });
  const messages = Array.from({ length: 5_500 }, (_, index) => ({
    id: `m${index}`,
    role: "user" as const,
    content: index === 20 ? "the code is QX2222" : index === 10 ? large : `message ${index}`,
  }));
  for (let at = 0; at < messages.length; at += 500) await varve.context.ingest(session, messages.slice(at, at + 500));
});

afterEach(async () => {
  vi.restoreAllMocks();
  await varve.close();
  rmSync(home, { recursive: true, force: true });
});

const search = (signal?: AbortSignal) => varve.context.grep({ session, pattern, scope: "messages", signal });
const hasLog = () => existsSync(join(home, "varve.db-wal"));

/** Calls `after` with each request to a thread, when it was sent and before it is answered. */
function watchRequests(after: (op: MatchRequest["op"], thread: MatchThread) => void): void {
  const { call } = MatchThread.prototype;
  vi.spyOn(MatchThread.prototype, "call").mockImplementation(function (this: MatchThread, request) {
    const answer = call.call(this, request);
    after(request.op, this);
    return answer;
  });
}

describe("threads that read messages", () => {
  it("leave a very large message to the store, and find it in its place", async () => {
    const ops = new Set<string>();
    watchRequests((op) => ops.add(op));
    const found = await search();
    expect(found.matches.map(({ snippet }) => snippet.slice(-6))).toEqual(["QX2222", "QX1111"]);
    expect(found.searched.messages).toBe(5_500);
    expect([...ops]).toEqual(expect.arrayContaining(["open", "load", "messages", "texts", "close"]));
  });

  it("do not count reading as matching", async () => {
    const deadlines = holdTimeouts();
    // Of one thread: another may be matching at the same time.
    const ended = new Map<MatchThread, (() => void)[]>();
    let expired = 0;
    watchRequests((op, thread) => {
      if (op === "compile" || op === "messages" || op === "texts") {
        ended.set(thread, [...(ended.get(thread) ?? []), deadlines.takeLast()]);
      } else {
        for (const expire of ended.get(thread) ?? []) {
          expire();
          if (op === "load") expired += 1;
        }
      }
    });
    const found = await search();
    expect(found.matches).toHaveLength(2);
    expect(found.cut).toBeUndefined();
    expect(expired).toBeGreaterThan(0);
  });

  it("are ended when matching takes too long", async () => {
    const deadlines = holdTimeouts();
    watchRequests((op) => {
      if (op === "messages") deadlines.expireAll();
    });
    const found = await search();
    expect(found.cut).toMatch(/stopped.*regexTimeoutMs/);
    vi.restoreAllMocks();
    expect((await search()).matches).toHaveLength(2);
  });

  it.each(["open", "load", "messages", "texts"] as const)("end with their caller during %s", async (during) => {
    const caller = new AbortController();
    watchRequests((op) => {
      if (op === during) caller.abort();
    });
    await expect(search(caller.signal)).rejects.toThrow(/cancelled|aborted/);
    vi.restoreAllMocks();
    expect((await search()).matches).toHaveLength(2);
  });

  it.each(["open", "load", "messages"] as const)(
    "leave no write-ahead log when the store closes during %s",
    async (during) => {
      let closing: Promise<void> | undefined;
      watchRequests((op) => {
        if (op === during) closing ??= varve.close();
      });
      await expect(search()).rejects.toMatchObject({ code: "STORE_CLOSED" });
      await closing;
      expect(hasLog()).toBe(false);
    },
  );

  it("close the file with the search", async () => {
    await search();
    expect(hasLog()).toBe(true);
    await varve.close();
    expect(hasLog()).toBe(false);
  });

  it("close the file with a search that was cancelled", async () => {
    const caller = new AbortController();
    watchRequests((op) => {
      if (op === "load") caller.abort();
    });
    await expect(search(caller.signal)).rejects.toThrow(/cancelled|aborted/);
    await varve.close();
    expect(hasLog()).toBe(false);
  });
});
