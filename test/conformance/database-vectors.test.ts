/** Vectors in pgvector: the same answers as in memory, conversion of older rows, indexes, and life without the extension. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runWithAccess } from "../../src/authorization/index.ts";
import { systemClock, systemRandom } from "../../src/domain/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";
import type { Embedded, EmbeddedQuery, Embedder, EmbedText } from "../../src/models/index.ts";
import { migrations, type Store } from "../../src/store/index.ts";
import { openPostgres } from "../../src/store/postgres/open.ts";
import { nameAgentIndex } from "../../src/store/postgres/vector-schema.ts";
import {
  bindToPolicies,
  databaseKinds,
  protectedKinds,
  type ScratchDatabase,
  scratchDatabase,
} from "../support/databases.ts";
import { WordEmbedder } from "../support/word-embedder.ts";

const kinds = databaseKinds.filter((kind) => kind === "postgres");
const embedder = new WordEmbedder({ kitten: "cat", feline: "cat", automobile: "car", vehicle: "car" });
const dimensions = 8;
const large = 20_000;

describe.each(kinds)("vectors in the database on %s", () => {
  let scratch: ScratchDatabase;
  let home: string;
  let ownerUrl: string;
  let client: Client;
  let varve: Varve;
  /** Without instant vectors: the rows that the tests count are those of the model. */
  const config = { search: { instant: false } };
  const open = (database: string) => openVarve({ home, database, background: false, models: { embedder }, config });
  const openStoreAt = (database: string) =>
    openPostgres({ database, clock: systemClock, random: systemRandom }, migrations);
  beforeAll(async () => {
    scratch = await scratchDatabase("postgres");
    home = mkdtempSync(join(tmpdir(), "varve-home-"));
    const url = new URL(scratch.database);
    url.username = "postgres";
    ownerUrl = url.href;
    client = new Client({ connectionString: ownerUrl });
    await client.connect();
    varve = await open(ownerUrl);
    const session = await varve.sessions.resolve({ key: "agent:main:pets" });
    const contents = [
      "A ginger kitten sleeps upstairs.",
      "The automobile is in the yard.",
      "Rain is expected at noon.",
    ];
    await varve.context.ingest(
      session,
      contents.map((content, index) => ({ id: `m${index}`, role: "user" as const, content })),
    );
    await varve.memory.add({ text: "The neighbour has a feline." });
    await varve.search.index();
  });
  afterAll(async () => {
    await varve?.close();
    await client?.end();
    await scratch?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  const findTexts = async (engine: Varve): Promise<string[]> =>
    (await engine.search.find("vehicle", { retrievers: ["vector"], kinds: ["message"] })).results.map(
      ({ text }) => text,
    );
  const countUnconverted = async (): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(
      "select (select count(*) from entry_vectors where embedding is null)::int + (select count(*) from memory_vectors where embedding is null)::int as count",
    );
    return rows[0]?.count ?? -1;
  };

  it("are written in both forms, which agree", async () => {
    expect(await countUnconverted()).toBe(0);
    const { rows } = await client.query<{ vector: Buffer; embedding: string }>(
      "select vector, embedding::text as embedding from entry_vectors union all select vector, embedding::text from memory_vectors",
    );
    expect(rows).toHaveLength(4);
    for (const { vector, embedding } of rows) {
      const numbers = JSON.parse(embedding) as number[];
      const scale = 127 / Math.max(...numbers.map(Math.abs));
      expect(numbers.map((number) => Math.round(number * scale))).toEqual([...new Int8Array(vector)]);
    }
    expect((await varve.checkDatabase()).vectors).toMatchObject({
      storage: "pgvector",
      isConverting: false,
      advice: [],
    });
  });

  it("of messages are not rounded to bytes, so that the nearest of many near ones is found", async () => {
    const near = new NearEmbedder();
    const engine = await openVarve({ home, database: ownerUrl, background: false, models: { embedder: near }, config });
    try {
      const session = await engine.sessions.resolve({ key: "agent:near:close" });
      const ids = Object.keys(nearNumbers);
      await engine.context.ingest(
        session,
        ids.map((content) => ({ id: content, role: "user" as const, content })),
      );
      await engine.search.index({ agent: "near" });
    } finally {
      await engine.close();
    }
    const { rows } = await client.query<{ seq: string; space: number; bytes: string; payload: string }>(
      "select e.seq, v.space, v.vector::text as bytes, e.payload from entry_vectors v join entries e on e.agent = v.agent and e.seq = v.seq where v.agent = 'near'",
    );
    expect(rows).toHaveLength(3);
    expect(new Set(rows.map(({ bytes }) => bytes)).size).toBe(1);
    const store = await openStoreAt(ownerUrl);
    try {
      for (const [id, number] of Object.entries(nearNumbers)) {
        const vector = Float32Array.of(1, number);
        const query = { agent: "near", space: rows[0]?.space ?? 0, vector, limit: 1 };
        const [found] = (await store.vectors?.nearestEntries(query)) ?? [];
        const row = rows.find(({ seq }) => Number(seq) === found?.seq);
        expect(row?.payload).toContain(id);
      }
    } finally {
      await store.close();
    }
    await client.query("delete from entry_vectors where agent = 'near'");
    await client.query("delete from search_states where agent = 'near'");
  });

  it("serve from their bytes until they are converted, with the same answers", async () => {
    const before = await findTexts(varve);
    expect(before[0]).toContain("automobile");
    await client.query("update entry_vectors set embedding = null; update memory_vectors set embedding = null");
    expect((await varve.checkDatabase()).vectors).toMatchObject({ isConverting: true });
    expect((await varve.checkDatabase()).vectors.advice.join()).toContain("varve db vectors");
    expect(await findTexts(varve)).toEqual(before);
    expect((await varve.memory.recall({ query: "cat", limit: 1 })).hits).toHaveLength(1);
    expect(await varve.search.maintainVectors()).toMatchObject({ converted: 4 });
    expect(await countUnconverted()).toBe(0);
    expect(await findTexts(varve)).toEqual(before);
    expect((await varve.memory.recall({ query: "cat", limit: 1 })).hits).toHaveLength(1);
    expect(await varve.search.maintainVectors()).toMatchObject({ converted: 0 });
  });

  it("of an agent with many get an index, whose answers are those of an exact comparison", async () => {
    const store = await openStoreAt(ownerUrl);
    try {
      await addVectors(client);
      const targets = [11, 4_711, 19_999].map((seed) => pseudoVector(seed));
      const exact = await nearest(store, targets);
      expect((await store.describeVectors()).advice.join()).toContain("2 agents (");
      // What a crash leaves of a build is replaced.
      await leaveInvalidIndex(client, nameAgentIndex("ann", 9));
      expect(await store.vectors?.maintain()).toMatchObject({ indexed: ["ann", "bob"], unindexed: [] });
      expect((await store.describeVectors()).advice).toEqual([]);
      const found = await nearest(store, targets);
      const hits = found.flatMap((seqs, index) => seqs.filter((seq) => exact[index]?.includes(seq)));
      expect(hits.length).toBeGreaterThanOrEqual(0.98 * exact.flat().length);
      const [target = new Float32Array()] = targets;
      const query = { agent: "ann", space: 9, vector: target, limit: 20 };
      const inside = await store.vectors?.nearestEntries({ ...query, spans: [{ conversation: 3 }] });
      expect(inside?.map(({ seq }) => seq % 10)).toEqual(Array.from({ length: 20 }, () => 3));
      const early = await store.vectors?.nearestEntries({ ...query, before: 30 });
      expect(early).toHaveLength(20);
      expect(early?.every(({ seq }) => seq < 30)).toBe(true);
      // Instant vectors need no index where the model has embedded half of the messages.
      await client.query("insert into vector_spaces (id, name, created_at) values (8, 'local/instant-0/32', 0)");
      await client.query("insert into search_states values ('ann', 8, $1, $1, 0), ('cat', 8, $1, $1, 0)", [large]);
      await client.query(`insert into entry_vectors (agent, space, seq, conversation, time, vector, embedding)
        select who, 8, 1, 1, 1, vector, embedding from entry_vectors, (values ('ann'), ('cat')) as w (who)
        where agent = 'ann' and space = 9 and seq = 1`);
      expect(await store.vectors?.maintain()).toMatchObject({ indexed: ["cat"], unindexed: [] });
      await client.query("delete from search_states where space = 8");
      // The index of an agent whose vectors are gone is dropped.
      await client.query("create index entry_vectors_near_9_0000 on entry_vectors (seq) where agent = 'gone'");
      expect(await store.vectors?.maintain()).toMatchObject({ indexed: [] });
      const { rows } = await client.query("select 1 from pg_class where relname = 'entry_vectors_near_9_0000'");
      expect(rows).toEqual([]);
    } finally {
      await store.close();
    }
  });

  it.runIf(protectedKinds.length > 0)(
    "of other tenants are not seen by a role that row-level security binds, index or not",
    async () => {
      const url = new URL(ownerUrl);
      await bindToPolicies(url);
      const store = await openStoreAt(url.href);
      try {
        const query = { space: 9, vector: pseudoVector(5), limit: 20 };
        const asAnn = <T>(work: () => Promise<T>) => runWithAccess({ agents: ["ann"], scopes: [] }, work);
        expect(await asAnn(async () => store.vectors?.nearestEntries({ ...query, agent: "ann" }))).toHaveLength(20);
        expect(await asAnn(async () => store.vectors?.nearestEntries({ ...query, agent: "bob" }))).toEqual([]);
        const space = { space: 1, vector: new Float32Array(256).fill(1), limit: 20 };
        expect(await asAnn(async () => store.vectors?.nearestMemories(space))).toEqual([]);
        // The role may not create indexes; it says which are missing instead.
        await client.query(`drop index ${nameAgentIndex("bob", 9)}`);
        expect(await store.vectors?.maintain()).toMatchObject({ indexed: [], unindexed: ["bob"] });
        expect((await store.describeVectors()).advice.join()).toContain("as the owner of the tables");
      } finally {
        await store.close();
      }
    },
  );

  it("are compared in memory without the extension, and the check says what to do", async () => {
    const before = await findTexts(varve);
    await client.query("drop extension vector cascade");
    const url = new URL(ownerUrl);
    await bindWithoutOwner(client, url);
    const plain = await open(url.href);
    try {
      const { vectors } = await plain.checkDatabase();
      expect(vectors).toMatchObject({ storage: "memory", isConverting: false });
      expect(vectors.advice.join()).toContain("create extension vector");
      expect((await plain.status()).search.index.advice.join()).toContain("create extension vector");
      expect(await findTexts(plain)).toEqual(before);
      expect(await plain.search.maintainVectors()).toBeUndefined();
    } finally {
      await plain.close();
    }
    // The owner installs it again, and what was written meanwhile is converted.
    const again = await open(ownerUrl);
    try {
      expect((await again.search.maintainVectors())?.converted).toBeGreaterThan(0);
      expect(await countUnconverted()).toBe(0);
      expect(await findTexts(again)).toEqual(before);
    } finally {
      await again.close();
    }
  });
});

/** Texts whose vectors are alike once they are rounded to bytes. */
const nearNumbers = { low: 0.5, middle: 0.502, high: 0.504 };

/** Vectors of two numbers, of which the second depends on the text. */
class NearEmbedder implements Embedder {
  readonly space = { provider: "test", model: "near", dimensions: 2, tokenDimensions: 2 };

  async embed(texts: EmbedText[]): Promise<Embedded[]> {
    return texts.map(({ text }) => ({ vector: this.makeVector(text) }));
  }

  async embedQuery(text: string): Promise<EmbeddedQuery> {
    return { vector: this.makeVector(text) };
  }

  async close(): Promise<void> {
    // Nothing is open.
  }

  private makeVector(text: string): Float32Array {
    const number = Object.entries(nearNumbers).find(([name]) => text.includes(name))?.[1] ?? 0;
    const norm = Math.hypot(1, number);
    return Float32Array.of(1 / norm, number / norm);
  }
}

function nearest(store: Store, targets: readonly Float32Array[]): Promise<number[][]> {
  return Promise.all(
    targets.map(async (vector) => {
      const found = await store.vectors?.nearestEntries({ agent: "ann", space: 9, vector, limit: 20 });
      return (found ?? []).map(({ seq }) => seq);
    }),
  );
}

/** Numbers from -100 to 100 that differ from seed to seed. */
function pseudoVector(seed: number): Float32Array {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return Float32Array.from({ length: dimensions }, () => {
    state = (Math.imul(state ^ (state >>> 15), 1_664_525) + 1_013_904_223) >>> 0;
    return ((state >>> 8) % 201) - 100;
  });
}

/** Vectors of two agents without their messages; conversation and time follow the number. */
async function addVectors(client: Client): Promise<void> {
  const numbers = Array.from({ length: large }, (_, index) => index + 1);
  const rows = numbers.map((seq) => Int8Array.from(pseudoVector(seq)));
  for (const agent of ["ann", "bob"]) {
    await client.query(
      `insert into entry_vectors (agent, space, seq, conversation, time, vector, embedding)
       select $1, 9, made.seq, made.seq % 10, made.seq, decode(made.bytes, 'hex'), made.embedding::halfvec
       from unnest($2::bigint[], $3::text[], $4::text[]) as made (seq, bytes, embedding)`,
      [agent, numbers, rows.map((row) => Buffer.from(row.buffer).toString("hex")), rows.map((row) => `[${row}]`)],
    );
    await client.query("insert into search_states values ($1, 9, $2, $2, 0)", [agent, large]);
    for (let conversation = 0; conversation < 10; conversation += 1) {
      await client.query(
        "insert into conversations (agent, id, key, created_at, updated_at, entry_count) values ($1, $2, 'k', 0, 0, $3)",
        [agent, conversation, large / 10],
      );
    }
  }
}

async function leaveInvalidIndex(client: Client, name: string): Promise<void> {
  await client.query(`create index ${name} on entry_vectors (seq) where agent = 'nobody'`);
  await client.query(`update pg_index set indisvalid = false where indexrelid = '${name}'::regclass`);
}

/** A role that may use the tables but not install anything. */
async function bindWithoutOwner(client: Client, url: URL): Promise<void> {
  const role = `varve_plain_${process.pid}`;
  await client.query(`create role ${role} login`);
  const { listRoleGrants } = await import("../../src/store/index.ts");
  for (const statement of listRoleGrants(role)) await client.query(statement);
  url.username = role;
}
