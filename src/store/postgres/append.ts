import { CompiledQuery, sql } from "kysely";
import {
  type AppendPlan,
  batchRefusedError,
  type EntryPlace,
  fileIdTakenError,
  parseRepeatedResult,
  planAppend,
} from "../append-plan.ts";
import type { AppendBatch, AppendResult, FileRow } from "../port.ts";
import type { Tx } from "../schema.ts";

/** A tsvector holds at most 1 MiB, so longer text is indexed in pieces. */
export const wordsPieceLength = 200_000;

/** Writes one batch inside the open transaction. The lock on the conversation's row serialises appends to it. */
export async function appendInTransaction(tx: Tx, batch: AppendBatch): Promise<AppendResult> {
  const { agent, conversation } = batch;
  const log = await tx
    .selectFrom("conversations")
    .select(["head_branch", "head_seq", "branch_count"])
    .where("agent", "=", agent)
    .where("id", "=", conversation)
    .forUpdate()
    .executeTakeFirst();
  if (!log) throw new Error(`conversation ${conversation} of agent ${agent} does not exist`);
  const known = await findRepeatedResult(tx, batch);
  if (known) return known;
  for (const statement of batch.attached ?? []) {
    const { numAffectedRows } = await tx.executeQuery(CompiledQuery.raw(statement.sql, [...statement.parameters]));
    if (statement.mustChange && Number(numAffectedRows ?? 0) === 0) throw batchRefusedError();
  }

  const ids = new Set(batch.entries.flatMap((entry) => (entry.parentId ? [entry.id, entry.parentId] : [entry.id])));
  const places = await findPlaces(tx, agent, conversation, [...ids]);
  const touched = new Set([...places.values()].map((place) => place.branch));
  if (log.head_branch !== null) touched.add(log.head_branch);
  const tips = await findTips(tx, agent, conversation, [...touched]);
  const fresh = batch.entries.filter((entry) => !places.has(entry.id)).length;
  const numbers = await sql<{ seq: number }>`
    select nextval('entry_seq') as seq from generate_series(1, ${fresh}::int)`.execute(tx);
  const seqs = numbers.rows.map((row) => row.seq);

  const plan = planAppend(
    batch,
    {
      head:
        log.head_branch === null || log.head_seq === null ? undefined : { branch: log.head_branch, seq: log.head_seq },
      branchCount: log.branch_count,
      find: (id) => places.get(id),
      findTip: (branch) => tips.get(branch),
    },
    () => {
      const next = seqs.shift();
      if (next === undefined) throw new Error("the sequence gave fewer numbers than the batch needs");
      return next;
    },
  );
  await writePlan(tx, batch, plan);
  const result: AppendResult = {
    entries: plan.entries,
    appended: plan.rows.length,
    duplicates: plan.entries.length - plan.rows.length,
  };
  if (batch.idempotencyKey !== undefined) {
    await tx
      .insertInto("turns")
      .values({ agent, conversation, key: batch.idempotencyKey, result: JSON.stringify(result), created_at: batch.now })
      .execute();
  }
  return result;
}

/** The conversation is locked here, so no other process can write the same idempotency key meanwhile. */
async function findRepeatedResult(
  tx: Tx,
  { agent, conversation, idempotencyKey }: AppendBatch,
): Promise<AppendResult | undefined> {
  if (idempotencyKey === undefined) return undefined;
  const row = await tx
    .selectFrom("turns")
    .select("result")
    .where("agent", "=", agent)
    .where("conversation", "=", conversation)
    .where("key", "=", idempotencyKey)
    .executeTakeFirst();
  return row && parseRepeatedResult(row.result);
}

async function findPlaces(
  tx: Tx,
  agent: string,
  conversation: number,
  ids: string[],
): Promise<Map<string, EntryPlace>> {
  const found = await sql<{ id: string; branch: number; seq: number }>`
    select id, branch, seq from entries
    where agent = ${agent} and conversation = ${conversation} and id = any(${ids}::text[])`.execute(tx);
  return new Map(found.rows.map((row) => [row.id, { branch: row.branch, seq: row.seq }]));
}

async function findTips(tx: Tx, agent: string, conversation: number, branches: number[]): Promise<Map<number, number>> {
  const found = await sql<{ branch: number; tip_seq: number | null }>`
    select branch, tip_seq from branches
    where agent = ${agent} and conversation = ${conversation} and branch = any(${branches}::bigint[])`.execute(tx);
  return new Map(found.rows.flatMap((row) => (row.tip_seq === null ? [] : [[row.branch, row.tip_seq]])));
}

async function writePlan(tx: Tx, batch: AppendBatch, plan: AppendPlan): Promise<void> {
  const { agent, conversation } = batch;
  for (const { branch, parent_branch, fork_seq } of plan.newBranches) {
    const parent_conversation = parent_branch === null ? null : conversation;
    await tx
      .insertInto("branches")
      .values({ agent, conversation, branch, parent_conversation, parent_branch, fork_seq, tip_seq: null })
      .execute();
  }
  const { rows } = plan;
  const last = rows.at(-1);
  if (last && plan.head) {
    // One array per column: the number of parameters does not grow with the batch.
    await sql`insert into entries (seq, agent, conversation, branch, transcript, id, kind, time, tokens, payload)
      select seq, ${agent}, ${conversation}, branch, ${batch.transcript}, id, kind, time, tokens, payload from unnest(
        ${rows.map((row) => row.seq)}::bigint[], ${rows.map((row) => row.branch)}::bigint[],
        ${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.kind)}::text[],
        ${rows.map((row) => row.time)}::bigint[], ${rows.map((row) => row.tokens)}::bigint[],
        ${rows.map((row) => row.payload)}::text[]
      ) as row (seq, branch, id, kind, time, tokens, payload)`.execute(tx);
    await insertWords(tx, agent, conversation, rows);
    for (const row of rows) for (const file of row.files ?? []) await insertFile(tx, batch, row.seq, file);
    for (const [branch, tip] of plan.tips) {
      await tx
        .updateTable("branches")
        .set({ tip_seq: tip })
        .where("agent", "=", agent)
        .where("conversation", "=", conversation)
        .where("branch", "=", branch)
        .execute();
    }
    await sql`update conversations set head_branch = ${plan.head.branch}, head_seq = ${plan.head.seq},
      branch_count = ${plan.branchCount}, updated_at = greatest(updated_at, ${batch.now}),
      entry_count = entry_count + ${rows.length}, message_count = message_count + ${plan.messages},
      tokens = tokens + ${plan.tokens} where agent = ${agent} and id = ${conversation}`.execute(tx);
    await sql`update transcripts set first_seq = coalesce(first_seq, ${rows[0]?.seq ?? last.seq}), last_seq = ${last.seq}
      where agent = ${agent} and id = ${batch.transcript}`.execute(tx);
    await sql`update sessions set updated_at = greatest(updated_at, ${batch.now}),
      last_interaction_at = greatest(last_interaction_at, ${batch.interactionAt ?? 0}),
      message_count = message_count + ${plan.messages}
      where agent = ${agent} and conversation = ${conversation}`.execute(tx);
  }
  for (const job of batch.jobs ?? []) {
    await sql`insert into jobs (agent, id, kind, key, payload, state, run_at, created_at, updated_at)
      values (${job.agent}, ${job.id}, ${job.kind}, ${job.key}, ${job.payload}, 'waiting', ${job.runAt},
        ${batch.now}, ${batch.now}) on conflict (agent, kind, key) do update set state = 'waiting', attempts = 0,
       payload = excluded.payload, run_at = excluded.run_at, updated_at = excluded.updated_at
       where jobs.state = 'failed'`.execute(tx);
  }
}

async function insertFile(tx: Tx, batch: AppendBatch, seq: number, file: FileRow): Promise<void> {
  const { agent, conversation, now } = batch;
  const { mediaType, ...columns } = file;
  await tx
    .insertInto("files")
    .values({ agent, ...columns, media_type: mediaType, created_at: now })
    .onConflict((conflict) => conflict.columns(["agent", "id"]).doNothing())
    .execute();
  const same = await tx
    .selectFrom("files")
    .select("id")
    .where("agent", "=", agent)
    .where("id", "=", file.id)
    // The same content may be stored with another key, or before texts were encrypted; then its size must be the same.
    .where(
      sql<boolean>`(content = ${file.content} or (bytes = ${file.bytes} and chr(2) in (left(content, 1), left(${file.content}, 1))))`,
    )
    .executeTakeFirst();
  if (!same) throw fileIdTakenError(file.id);
  await tx
    .insertInto("file_refs")
    .values({ agent, conversation, seq, file: file.id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Indexes the rows that have words. */
export async function insertWords(
  tx: Tx,
  agent: string,
  conversation: number,
  rows: { seq: number; words: string }[],
): Promise<void> {
  const pieces = rows.flatMap((row) =>
    splitWordPieces(row.words).map((words, piece) => ({ seq: row.seq, piece, words })),
  );
  if (pieces.length === 0) return;
  await sql`insert into entry_text (agent, conversation, seq, piece, words)
    select ${agent}, ${conversation}, seq, piece, to_tsvector('varve', words) from unnest(
      ${pieces.map((row) => row.seq)}::bigint[], ${pieces.map((row) => row.piece)}::int[],
      ${pieces.map((row) => row.words)}::text[]
    ) as row (seq, piece, words) on conflict do nothing`.execute(tx);
}

function splitWordPieces(words: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < words.length; ) {
    let end = Math.min(words.length, start + wordsPieceLength);
    const space = end < words.length ? words.lastIndexOf(" ", end) : end;
    if (space > start) end = space;
    pieces.push(words.slice(start, end).toWellFormed());
    start = end;
  }
  return pieces;
}
