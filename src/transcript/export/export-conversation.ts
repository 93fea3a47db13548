import { type Entry, redactSecrets } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { readHead } from "../path.ts";
import { findEntry, readTail, walkBranch, walkConversation } from "../read.ts";
import type { ExportFormat } from "./export-formats.ts";
import { type ExportHeader, jsonlHeader, jsonlLine } from "./jsonl.ts";
import { markdownEntry, markdownHeader } from "./markdown.ts";

/**
 * Streams a conversation as text. JSON lines contain everything, including inactive branches, and can be imported
 * without loss. Markdown and HTML contain the active branch, optionally without secrets.
 */
export async function* exportConversation(
  store: Store,
  ref: { agent: string; conversation: number },
  header: Omit<ExportHeader, "head">,
  format: ExportFormat,
  redact = false,
): AsyncGenerator<string> {
  if (format === "jsonl") {
    yield jsonlHeader({ ...header, head: await readHeadId(store, ref) });
    for await (const page of walkAllEntries(store, ref)) yield page.map(jsonlLine).join("");
    return;
  }
  // Loaded on demand: few commands need the renderer.
  const html = format === "html" ? await import("./html.ts") : undefined;
  yield html ? html.htmlHeader(header) : markdownHeader(header);
  const write = html ? html.htmlEntry : markdownEntry;
  for await (const page of walkBranch(store, ref)) {
    const text = page.map(write).join("");
    yield redact ? redactSecrets(text) : text;
  }
  if (html) yield html.htmlFooter;
}

async function readHeadId(store: Store, ref: { agent: string; conversation: number }): Promise<string | undefined> {
  const tail = await readTail(store, ref, { limit: 1 });
  return tail.entries[0]?.id;
}

/** Every entry of a conversation; the entries that a fork inherits come first. */
async function* walkAllEntries(store: Store, ref: { agent: string; conversation: number }): AsyncGenerator<Entry[]> {
  const fork = await store.db
    .selectFrom("branches")
    .select(["parent_conversation", "fork_seq"])
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .where("branch", "=", 1)
    .executeTakeFirst();
  const inherits = fork?.parent_conversation != null && fork.parent_conversation !== ref.conversation;
  let inheritedId: string | undefined;
  if (inherits && fork.fork_seq !== null && (await readHead(store, ref))) {
    const { entry } = await findEntry(store, ref.agent, { seq: fork.fork_seq });
    inheritedId = entry.id;
    for await (const page of walkBranch(store, ref)) {
      const inherited = page.filter((one) => one.seq <= entry.seq);
      if (inherited.length > 0) yield inherited;
      if (inherited.length < page.length) break;
    }
  }
  for await (const page of walkConversation(store, ref)) {
    yield page.map((entry) => (entry.parentId === null && inheritedId ? { ...entry, parentId: inheritedId } : entry));
  }
}
