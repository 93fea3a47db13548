/**
 * The append of most messages as one function of the database: one statement, whose parts the server plans once for a
 * connection. It handles only what needs no decision: new entries after the head of a conversation, which is the tip of
 * its branch, or the first entries of a conversation. In all other cases nothing is written, and `append.ts` does it
 * statement by statement.
 */
import { CompiledQuery, sql } from "kysely";
import type { AppendBatch, AppendResult, AttachedStatement } from "../port.ts";
import type { Db, Tx } from "../schema.ts";
import { wordsPieceLength } from "./append.ts";
import { combineExpressions, type Fragment } from "./combine-statements.ts";

/** The function that a database has. A released one never changes: gateways of two versions may use one database. */
const functionName = "varve_append_1";
const argumentTypes = [
  ...["text", "bigint", "bigint", "bigint", "bigint", "text"],
  ...["text[]", "text[]", "bigint[]", "bigint[]", "text[]", "text[]", "bigint"],
  ...["text[]", "text[]", "text[]", "text[]", "bigint[]", "boolean"],
];
/** The batch needs the general append. */
const notPlain = "VA001";
/** The error of a division by zero, which an attached statement without effect causes. */
const divisionByZero = "22012";
const entriesMax = 16;

const body = `
#variable_conflict use_column
declare
  p_branch bigint;
  p_head bigint;
  p_branches bigint;
  p_seq bigint;
  p_seqs bigint[] := '{}';
begin
  select head_branch, head_seq, branch_count into p_branch, p_head, p_branches from conversations
    where agent = p_agent and id = p_conversation for update;
  if p_branches is null
    or (p_head is null and p_branches > 0)
    or (p_head is not null and not exists (select 1 from branches where agent = p_agent
      and conversation = p_conversation and branch = p_branch and tip_seq = p_head))
    or exists (select 1 from entries where agent = p_agent and conversation = p_conversation and id = any(p_ids))
    or (p_key is not null and exists (select 1 from turns where agent = p_agent and conversation = p_conversation
      and key = p_key))
  then
    if p_raises then
      raise exception 'not a plain append' using errcode = '${notPlain}';
    end if;
    return null;
  end if;
  if p_head is null then
    p_branch := 1;
    insert into branches (agent, conversation, branch, parent_conversation, parent_branch, fork_seq, tip_seq)
      values (p_agent, p_conversation, 1, null, null, null, null);
  end if;
  for i in 1 .. cardinality(p_ids) loop
    p_seq := nextval('entry_seq');
    p_seqs := p_seqs || p_seq;
    insert into entries (seq, agent, conversation, branch, transcript, id, kind, time, tokens, payload)
      values (p_seq, p_agent, p_conversation, p_branch, p_transcript, p_ids[i], p_kinds[i], p_times[i], p_tokens[i],
        p_payloads[i]);
    if p_words[i] <> '' then
      insert into entry_text (agent, conversation, seq, piece, words)
        values (p_agent, p_conversation, p_seq, 0, to_tsvector('varve', p_words[i])) on conflict do nothing;
    end if;
  end loop;
  update branches set tip_seq = p_seq
    where agent = p_agent and conversation = p_conversation and branch = p_branch;
  update conversations set head_branch = p_branch, head_seq = p_seq, branch_count = greatest(branch_count, 1),
    updated_at = greatest(updated_at, p_now), entry_count = entry_count + cardinality(p_ids), message_count = message_count + p_messages,
    tokens = tokens + (select sum(t) from unnest(p_tokens) as t)
    where agent = p_agent and id = p_conversation;
  update transcripts set first_seq = coalesce(first_seq, p_seqs[1]), last_seq = p_seq
    where agent = p_agent and id = p_transcript;
  update sessions set updated_at = greatest(updated_at, p_now),
    last_interaction_at = greatest(last_interaction_at, p_interaction), message_count = message_count + p_messages
    where agent = p_agent and conversation = p_conversation;
  for i in 1 .. cardinality(p_job_ids) loop
    insert into jobs (agent, id, kind, key, payload, state, run_at, created_at, updated_at)
      values (p_agent, p_job_ids[i], p_job_kinds[i], p_job_keys[i], p_job_payloads[i], 'waiting', p_job_times[i],
        p_now, p_now)
      on conflict (agent, kind, key) do update set state = 'waiting', attempts = 0, payload = excluded.payload,
        run_at = excluded.run_at, updated_at = excluded.updated_at where jobs.state = 'failed';
  end loop;
  if p_key is not null then
    insert into turns (agent, conversation, key, result, created_at)
      select p_agent, p_conversation, p_key, json_build_object('entries', json_agg(json_build_object(
        'id', id, 'seq', seq, 'status', 'appended')), 'appended', cardinality(p_ids), 'duplicates', 0)::text, p_now
      from unnest(p_ids, p_seqs) as appended (id, seq);
  end if;
  return p_seqs;
end`;

const argumentNames = [
  ...["p_agent", "p_conversation", "p_transcript", "p_now", "p_interaction", "p_key"],
  ...["p_ids", "p_kinds", "p_times", "p_tokens", "p_payloads", "p_words", "p_messages"],
  ...["p_job_ids", "p_job_kinds", "p_job_keys", "p_job_payloads", "p_job_times", "p_raises"],
];

/** Whether the database has the function and this role may call it. */
export async function hasAppendFunction(db: Db | Tx): Promise<boolean> {
  const signature = `${functionName}(${argumentTypes.join(", ")})`;
  const { rows } = await sql<{ usable: boolean | null }>`
    select has_function_privilege(to_regprocedure(${signature}), 'execute') as usable`.execute(db);
  return rows[0]?.usable ?? false;
}

/** Creates the function when this role may; for the owner of the tables. */
export async function createAppendFunction(tx: Tx): Promise<boolean> {
  if (await hasAppendFunction(tx)) return true;
  const { rows } = await sql<{ allowed: boolean }>`
    select has_schema_privilege(current_schema(), 'create') as allowed`.execute(tx);
  if (!rows[0]?.allowed) return false;
  const parameters = argumentNames.map((name, index) => `${name} ${argumentTypes[index]}`).join(", ");
  // Another process may have created it while this one waited for the lock, which the check may not see yet.
  await sql
    .raw(
      `create or replace function ${functionName}(${parameters}) returns bigint[] language plpgsql as $body$${body}$body$`,
    )
    .execute(tx);
  return true;
}

/** Whether the function may handle a batch; it may still refuse it for the state of the conversation. */
export function isPlainAppend({ agent, entries, jobs = [] }: AppendBatch): boolean {
  return (
    entries.length > 0 &&
    entries.length <= entriesMax &&
    new Set(entries.map(({ id }) => id)).size === entries.length &&
    jobs.every((job) => job.agent === agent) &&
    entries.every(
      ({ parentId, files = [], words }) =>
        parentId === undefined && files.length === 0 && words.length <= wordsPieceLength,
    )
  );
}

/**
 * The call of the function, as an expression: the sequence numbers of the entries. When the batch needs the general
 * append, it fails (`raises`), which undoes the flight, or gives null.
 */
export function callAppend(batch: AppendBatch, { raises }: { raises: boolean }): Fragment {
  const { agent, conversation, transcript, now, interactionAt = 0, idempotencyKey = null, entries, jobs = [] } = batch;
  const values = [
    ...[agent, conversation, transcript, now, interactionAt, idempotencyKey],
    ...[entries.map(({ id }) => id), entries.map(({ kind }) => kind), entries.map(({ time }) => time)],
    ...[entries.map(({ tokens }) => tokens), entries.map(({ payload }) => payload)],
    ...[entries.map(({ words }) => words.toWellFormed()), entries.filter((entry) => entry.countsAsMessage).length],
    ...[jobs.map(({ id }) => id), jobs.map(({ kind }) => kind), jobs.map(({ key }) => key)],
    ...[jobs.map(({ payload }) => payload), jobs.map(({ runAt }) => runAt), raises],
  ];
  const parameters = argumentTypes.map((type, index) => `$${index + 1}::${type}`);
  return { text: `${functionName}(${parameters.join(", ")}) as seqs`, values };
}

/** A statement of the same flight. One that must change a row fails when it changes none, which undoes the flight. */
export function attachToFlight({ sql: text, parameters, mustChange }: AttachedStatement): Fragment {
  return mustChange
    ? { text: `with changed as (${text} returning 1) select 1 / count(*) from changed`, values: parameters }
    : { text, values: parameters };
}

/** The batch inside an open transaction; undefined when it needs the general append. */
export async function appendByFunction(tx: Tx, batch: AppendBatch): Promise<AppendResult | undefined> {
  if (!isPlainAppend(batch) || (batch.attached ?? []).length > 0) return undefined;
  const { text, values } = combineExpressions([callAppend(batch, { raises: false })]);
  const { rows } = await tx.executeQuery(CompiledQuery.raw(text, [...values]));
  return toAppendResult(batch, rows[0]);
}

export function toAppendResult({ entries }: AppendBatch, row: unknown): AppendResult | undefined {
  const { seqs } = row as { seqs: number[] | null };
  if (seqs === null) return undefined;
  return {
    entries: entries.map(({ id }, index) => ({ id, seq: Number(seqs[index]), status: "appended" })),
    appended: entries.length,
    duplicates: 0,
  };
}

/** Whether the general append has to decide, because the function or an attached statement refused. */
export function isForGeneralAppend(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === notPlain || cause?.code === divisionByZero;
}
