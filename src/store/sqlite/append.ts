import { batchRefusedError, fileIdTakenError, parseRepeatedResult, planAppend } from "../append-plan.ts";
import type { AppendBatch, AppendResult, FileRow, NewJob } from "../port.ts";
import type { Statements } from "./statements.ts";

/** Writes one batch inside the open transaction. */
export function appendInTransaction(statements: Statements, batch: AppendBatch): AppendResult {
  const { agent, conversation } = batch;
  const log = statements.get(
    "select head_branch, head_seq, branch_count from conversations where agent = ? and id = ?",
    agent,
    conversation,
  ) as { head_branch: number | null; head_seq: number | null; branch_count: number } | undefined;
  if (!log) throw new Error(`conversation ${conversation} of agent ${agent} does not exist`);
  if (batch.idempotencyKey !== undefined) {
    const known = statements.get(
      "select result from turns where agent = ? and conversation = ? and key = ?",
      ...[agent, conversation, batch.idempotencyKey],
    ) as { result: string } | undefined;
    if (known) return parseRepeatedResult(known.result);
  }
  for (const { sql, parameters, mustChange } of batch.attached ?? []) {
    if (statements.execute(sql, parameters).changes === 0 && mustChange) throw batchRefusedError();
  }
  const counter = statements.get("select value from counters where name = 'entry_seq'") as { value: number };
  let lastSeq = counter.value;

  const findSql = "select branch, seq from entries where agent = ? and conversation = ? and id = ?";
  const tipSql = "select tip_seq from branches where agent = ? and conversation = ? and branch = ?";
  const plan = planAppend(
    batch,
    {
      head:
        log.head_branch === null || log.head_seq === null ? undefined : { branch: log.head_branch, seq: log.head_seq },
      branchCount: log.branch_count,
      find: (id) => statements.get(findSql, agent, conversation, id) as { branch: number; seq: number } | undefined,
      findTip: (branch) =>
        (statements.get(tipSql, agent, conversation, branch) as { tip_seq: number | null } | undefined)?.tip_seq ??
        undefined,
    },
    () => {
      lastSeq += 1;
      return lastSeq;
    },
  );

  for (const branch of plan.newBranches) {
    statements.run(
      `insert into branches (agent, conversation, branch, parent_conversation, parent_branch, fork_seq, tip_seq)
       values (?, ?, ?, ?, ?, ?, null)`,
      agent,
      conversation,
      branch.branch,
      branch.parent_branch === null ? null : conversation,
      branch.parent_branch,
      branch.fork_seq,
    );
  }
  const insertSql = `insert into entries (seq, agent, conversation, branch, transcript, id, kind, time, tokens, payload)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const insertWordsSql = "insert into entry_text (rowid, words) values (?, ?)";
  for (const row of plan.rows) {
    const { seq, branch, id, kind, time, tokens, payload } = row;
    statements.run(insertSql, seq, agent, conversation, branch, batch.transcript, id, kind, time, tokens, payload);
    if (row.words !== "") statements.run(insertWordsSql, seq, row.words);
    for (const file of row.files ?? []) insertFile(statements, batch, seq, file);
  }
  for (const [branch, tip] of plan.tips) {
    statements.run(
      "update branches set tip_seq = ? where agent = ? and conversation = ? and branch = ?",
      tip,
      agent,
      conversation,
      branch,
    );
  }
  const last = plan.rows.at(-1);
  if (last && plan.head) {
    const first = plan.rows[0]?.seq ?? last.seq;
    statements.run("update counters set value = ? where name = 'entry_seq'", last.seq);
    statements.run(
      `update conversations set head_branch = ?, head_seq = ?, branch_count = ?, updated_at = max(updated_at, ?),
         entry_count = entry_count + ?, message_count = message_count + ?, tokens = tokens + ? where agent = ? and id = ?`,
      plan.head.branch,
      plan.head.seq,
      plan.branchCount,
      batch.now,
      plan.rows.length,
      plan.messages,
      plan.tokens,
      agent,
      conversation,
    );
    statements.run(
      "update transcripts set first_seq = coalesce(first_seq, ?), last_seq = ? where agent = ? and id = ?",
      first,
      last.seq,
      agent,
      batch.transcript,
    );
    statements.run(
      `update sessions set updated_at = max(updated_at, ?), last_interaction_at = max(last_interaction_at, ?),
         message_count = message_count + ? where agent = ? and conversation = ?`,
      batch.now,
      batch.interactionAt ?? 0,
      plan.messages,
      agent,
      conversation,
    );
  }
  for (const job of batch.jobs ?? []) insertJob(statements, job, batch.now);
  const result: AppendResult = {
    entries: plan.entries,
    appended: plan.rows.length,
    duplicates: plan.entries.length - plan.rows.length,
  };
  if (batch.idempotencyKey !== undefined) {
    statements.run(
      "insert into turns (agent, conversation, key, result, created_at) values (?, ?, ?, ?, ?)",
      ...[agent, conversation, batch.idempotencyKey, JSON.stringify(result), batch.now],
    );
  }
  return result;
}

function insertFile(statements: Statements, batch: AppendBatch, seq: number, file: FileRow): void {
  const { agent, conversation, now } = batch;
  const { id, name, mediaType, kind, summary, bytes, lines, tokens, content } = file;
  statements.run(
    `insert into files (agent, id, name, media_type, kind, summary, bytes, lines, tokens, content, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (agent, id) do nothing`,
    ...[agent, id, name, mediaType, kind, summary, bytes, lines, tokens, content, now],
  );
  // The same content may be stored with another key, or before texts were encrypted; then its size must be the same.
  const stored = statements.get(
    "select content = ? or (bytes = ? and char(2) in (substr(content, 1, 1), substr(?, 1, 1))) as same from files where agent = ? and id = ?",
    ...[content, bytes, content, agent, id],
  );
  if ((stored as { same: number }).same === 0) throw fileIdTakenError(id);
  statements.run(
    "insert into file_refs (agent, conversation, seq, file) values (?, ?, ?, ?) on conflict do nothing",
    ...[agent, conversation, seq, id],
  );
}

function insertJob(statements: Statements, job: NewJob, now: number): void {
  statements.run(
    `insert into jobs (agent, id, kind, key, payload, state, run_at, created_at, updated_at)
     values (?, ?, ?, ?, ?, 'waiting', ?, ?, ?) on conflict (agent, kind, key) do update set state = 'waiting', attempts = 0,
       payload = excluded.payload, run_at = excluded.run_at, updated_at = excluded.updated_at
       where jobs.state = 'failed'`,
    job.agent,
    job.id,
    job.kind,
    job.key,
    job.payload,
    job.runAt,
    now,
    now,
  );
}
