import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock, systemRandom } from "../domain/index.ts";
import { openVarve, type Session, type Varve } from "../index.ts";
import { openStore, type Store } from "../store/index.ts";
import { listCandidates, type ScanOptions } from "./message-candidates.ts";

let home: string;
let varve: Varve;
let store: Store;

/** Two agents that write by turns; the first one in two conversations, one of which has a second branch. */
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "varve-candidates-"));
  varve = await openVarve({ home, background: false });
  const open = (key: string) => varve.sessions.resolve({ key });
  const [one, two, other] = [await open("agent:main:one"), await open("agent:main:two"), await open("agent:other:one")];
  const write = (session: Session, round: number) => {
    const content = round % 4 === 0 ? "a needle" : "hay";
    return varve.context.ingest(session, [{ id: `m${round}`, role: "user", content }]);
  };
  for (let round = 0; round < 30; round += 1) {
    if (round === 25) await varve.transcripts.moveHead(one, "m20");
    await write(one, round);
    if (round % 3 === 0) await write(two, round);
    for (let more = 0; more < 3; more += 1) await write(other, 3 * round + more);
  }
  store = await openStore({ database: join(home, "varve.db"), clock: systemClock, random: systemRandom });
});

afterEach(async () => {
  await store.close();
  await varve.close();
  rmSync(home, { recursive: true, force: true });
});

async function listAll(options: ScanOptions, sizes: { seqsAtOnce: number; unsortedMax: number }): Promise<number[]> {
  const pages: number[][] = [];
  for await (const page of listCandidates(store, options, sizes)) pages.push(page);
  return pages.flat();
}

it("lists the same messages, newest first, in one page and in ranges of the log", async () => {
  const conversations = (await varve.sessions.list({ agent: "main" })).sessions.map(({ conversation }) => conversation);
  const scopes: ScanOptions[] = [
    { agent: "main" },
    { agent: "main", conversations: conversations.slice(0, 1) },
    { agent: "main", conversations: conversations.slice(1) },
    { agent: "main", conversations },
    { agent: "main", needle: "needle" },
    { agent: "other" },
  ];
  for (const scope of scopes) {
    const whole = await listAll(scope, { seqsAtOnce: 1_000, unsortedMax: 1_000 });
    expect(whole.length).toBeGreaterThan(5);
    expect(whole).toEqual(whole.toSorted((a, b) => b - a));
    for (const seqsAtOnce of [1, 7, 40, 500]) {
      expect(await listAll(scope, { seqsAtOnce, unsortedMax: 2 }), JSON.stringify(scope)).toEqual(whole);
    }
  }
});
