import { type JsonObject, type Message, redactMessage, roles } from "../domain/index.ts";
import type { StoreTransaction } from "../store/index.ts";
import { estimateMessageTokens, estimateTokens } from "../text/index.ts";

const chunkRows = 500;
const roleNames = new Set<string>(roles);

/** Entries of an agent whose content is to be removed. */
export interface RedactedEntries {
  agent: string;
  seqs: readonly number[];
}

/**
 * Replaces the content of entries by a placeholder. Their ids, sequence numbers, times and places stay; words, vectors and
 * large content are removed.
 */
export async function redactEntries(
  tx: StoreTransaction,
  { agent, seqs }: RedactedEntries,
  placeholder: string,
): Promise<{ entries: number; files: number }> {
  let entries = 0;
  for (let from = 0; from < seqs.length; from += chunkRows) {
    const chunk = seqs.slice(from, from + chunkRows);
    const rows = await tx.db
      .selectFrom("entries")
      .select(["seq", "conversation", "kind", "payload", "tokens"])
      .where("agent", "=", agent)
      .where("seq", "in", chunk)
      .execute();
    for (const row of rows) {
      const { payload, tokens } = redactPayload(row.kind, row.payload, placeholder);
      await tx.db
        .updateTable("entries")
        .set({ payload, tokens })
        .where("agent", "=", agent)
        .where("conversation", "=", row.conversation)
        .where("seq", "=", row.seq)
        .execute();
      await tx.db
        .updateTable("conversations")
        .set((eb) => ({ tokens: eb("tokens", "+", tokens - row.tokens) }))
        .where("agent", "=", agent)
        .where("id", "=", row.conversation)
        .execute();
    }
    entries += rows.length;
    await tx.removeText(agent, chunk);
    for (const table of ["entry_vectors", "entry_tokens", "file_refs", "memory_recalls"] as const) {
      await tx.db.deleteFrom(table).where("agent", "=", agent).where("seq", "in", chunk).execute();
    }
  }
  return { entries, files: await removeUnusedFiles(tx, agent) };
}

function redactPayload(kind: string, text: string, placeholder: string): { payload: string; tokens: number } {
  const payload = JSON.parse(text) as JsonObject;
  if (!roleNames.has(kind)) {
    return { payload: JSON.stringify(redactOther(kind, payload, placeholder)), tokens: estimateTokens(placeholder) };
  }
  const { content } = payload as unknown as Pick<Message, "content">;
  const message = redactMessage({ role: kind as Message["role"], content }, placeholder);
  const { role: _, ...rest } = message;
  return { payload: JSON.stringify(rest), tokens: estimateMessageTokens(message) };
}

/** Entries that are no messages keep the fields that place them in the conversation. */
function redactOther(kind: string, { extra: _, ...payload }: JsonObject, placeholder: string): JsonObject {
  switch (kind) {
    case "compaction":
    case "branch_summary":
      return { ...payload, summary: placeholder };
    case "custom_message":
      return { ...payload, message: { role: "user", content: placeholder } };
    case "custom":
      return { ...payload, data: null };
    case "label":
      return { ...payload, label: null };
    case "session": {
      const { cwd: _cwd, ...rest } = payload;
      return rest;
    }
    default:
      return payload;
  }
}

/** Files are shared by content hash: a file is removed with the last entry that references it. */
async function removeUnusedFiles({ db }: StoreTransaction, agent: string): Promise<number> {
  const unused = await db
    .selectFrom("files")
    .select("id")
    .where("agent", "=", agent)
    .where("id", "not in", db.selectFrom("file_refs").select("file").where("agent", "=", agent))
    .execute();
  for (const { id } of unused) {
    await db.deleteFrom("files").where("agent", "=", agent).where("id", "=", id).execute();
    await db
      .deleteFrom("document_vectors")
      .where("agent", "=", agent)
      .where("kind", "=", "file")
      .where("id", "=", id)
      .execute();
  }
  return unused.length;
}
