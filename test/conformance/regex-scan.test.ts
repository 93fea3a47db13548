/** Regular expressions over more messages than one thread reads at once, on every engine. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { openVarve, type Session, type Varve } from "../../src/index.ts";
import { openStore } from "../../src/store/index.ts";
import { scratchDatabase } from "../support/databases.ts";
import { onEveryEngine } from "../support/engines.ts";

const count = 5_200;
/** Without a literal, so that no index excludes a message. */
const code = "[A-Z]{2}\\d{4}";
const largeFileTokenThreshold = 300;
const startTime = Date.UTC(2026, 0, 1);
const padding = "several plain words in a row ".repeat(120);
const citations = (found: { matches: { citation: string }[] }) => found.matches.map(({ citation }) => citation);

/** Messages of which every 200th has a code, and every 600th has it in content that is extracted into a file. */
async function fill(varve: Varve, key: string): Promise<Session> {
  const session = await varve.sessions.resolve({ key });
  const messages = Array.from({ length: count }, (_, index) => {
    const words = index % 200 === 0 ? `the code is QX${1000 + index / 200}` : `message ${index}`;
    const content = index % 600 === 0 ? `${padding}\n${words}` : words;
    return { id: `m${index}`, role: "user" as const, content, time: startTime + index };
  });
  for (let at = 0; at < count; at += 500) await varve.context.ingest(session, messages.slice(at, at + 500));
  return session;
}

/** The sequence numbers of the entries that were stored last, by their ids. */
async function readSeqs(database: string): Promise<Map<string, number>> {
  const store = await openStore({ database, clock: systemClock, random: systemRandom });
  const rows = await store.db.selectFrom("entries").select(["id", "seq"]).orderBy("seq").execute();
  await store.close();
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}

onEveryEngine(
  "a regular expression over a long history",
  (get) => {
    const sessions = new Map<Varve, Promise<{ session: Session; newestFirst: string[] }>>();
    const fillOnce = () => {
      const { varve } = get();
      const known = sessions.get(varve) ?? prepare(varve);
      sessions.set(varve, known);
      return known;
    };
    const prepare = async (varve: Varve) => {
      const session = await fill(varve, "agent:main:regex:direct:long");
      const seqs = await readSeqs(get().database);
      const ids = Array.from({ length: count / 200 }, (_, index) => `m${index * 200}`).reverse();
      return { session, newestFirst: ids.map((id) => `msg#${seqs.get(id)}`) };
    };

    test("finds all matches, newest first, in messages and in their extracted content", async () => {
      const { varve } = get();
      const { session, newestFirst } = await fillOnce();
      expect((await varve.context.grep({ session, pattern: code, scope: "files" })).matches.length).toBeGreaterThan(5);
      const found = await varve.context.grep({ session, pattern: code, scope: "messages" });
      expect(citations(found)).toEqual(newestFirst);
      expect(found.searched.messages).toBe(count);
      expect(found.cut).toBeUndefined();
      expect(found.matches[0]).toMatchObject({ role: "user", snippet: expect.stringContaining("QX1025") });
    });

    test.each([1, 2, 3, 4, 5, 24])("stops at a limit of %i, and says how many it searched", async (limit) => {
      const { varve } = get();
      const { session, newestFirst } = await fillOnce();
      const found = await varve.context.grep({ session, pattern: code, scope: "messages", limit });
      expect(citations(found)).toEqual(newestFirst.slice(0, limit));
      // Up to the first match after the limit: the newest code is in the 200th message from the end.
      expect(found.searched.messages).toBe(200 * (limit + 1));
      expect(found.cut).toMatch(`more matches than the limit of ${limit}`);
    });

    test("reports nothing left out when the limit is exactly the number of matches", async () => {
      const { varve } = get();
      const { session, newestFirst } = await fillOnce();
      const found = await varve.context.grep({ session, pattern: code, scope: "messages", limit: count / 200 });
      expect(citations(found)).toEqual(newestFirst);
      expect(found.searched.messages).toBe(count);
      expect(found.cut).toBeUndefined();
    });

    test("finds a message that was stored just before, and none of another conversation", async () => {
      const { varve } = get();
      const { session } = await fillOnce();
      const other = await varve.sessions.resolve({ key: "agent:main:regex:direct:other" });
      await varve.context.ingest(other, [{ id: "o", role: "user", content: "ZZ0000 elsewhere" }]);
      for (let round = 0; round < 5; round += 1) {
        await varve.context.ingest(session, [
          { id: `n${round}`, role: "user", content: `now ZZ${2000 + round}`, time: startTime + count + round },
        ]);
        const { matches } = await varve.context.grep({ session, pattern: "[Z]{2}\\d{4}", scope: "messages" });
        expect(matches.map(({ snippet }) => snippet)[0]).toBe(`now ZZ${2000 + round}`);
        expect(matches).toHaveLength(round + 1);
      }
    });

    test("fails with the number of a damaged message", async () => {
      const { varve, database } = get();
      const session = await fill(varve, "agent:main:regex:direct:damaged");
      const seq = (await readSeqs(database)).get("m50");
      const store = await openStore({ database, clock: systemClock, random: systemRandom });
      await store.transaction(({ db }) => sql`update entries set payload = '{"con' where seq = ${seq}`.execute(db));
      await store.close();
      await expect(varve.context.grep({ session, pattern: code, scope: "messages" })).rejects.toMatchObject({
        code: "STORE_CORRUPT",
        message: expect.stringContaining(`msg#${seq}`),
        remedy: expect.stringContaining("varve doctor"),
      });
    });

    test("reads encrypted messages", async () => {
      const { kind, home } = get();
      process.env.VARVE_TEST_REGEX_KEY = Buffer.alloc(32, 5).toString("base64");
      const scratch = await scratchDatabase(kind);
      const varve = await openVarve({
        home,
        database: scratch.database,
        background: false,
        config: { encryption: { key: "env:VARVE_TEST_REGEX_KEY" }, context: { largeFileTokenThreshold } },
      });
      try {
        const session = await fill(varve, "agent:main:regex:direct:sealed");
        const found = await varve.context.grep({ session, pattern: code, scope: "messages" });
        expect(found.matches).toHaveLength(count / 200);
        expect(found.searched.messages).toBe(count);
      } finally {
        await varve.close();
        await scratch.drop();
      }
    });
  },
  { config: { context: { largeFileTokenThreshold } } },
);
