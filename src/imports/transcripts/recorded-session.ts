import { BlockAligner, identifyBlocks, identifyText, isJsonObject, recordedField } from "../../domain/index.ts";
import { listRecordedIds } from "../../session/index.ts";
import type { Store } from "../../store/index.ts";
import { readEntries } from "../../transcript/index.ts";
import type { OpenedSession } from "./import-types.ts";
import type { ImportDraft } from "./place-entries.ts";
import type { ReaderEvent } from "./reader.ts";

/** Whether one of the sessions has messages that were recorded from requests. */
export async function isRecorded(store: Store, agent: string, sessionIds: readonly string[]): Promise<boolean> {
  if (sessionIds.length === 0) return false;
  const rows = await store.db
    .selectFrom("transcripts")
    .innerJoin("sessions", (join) =>
      join
        .onRef("sessions.agent", "=", "transcripts.agent")
        .onRef("sessions.conversation", "=", "transcripts.conversation"),
    )
    .select("sessions.metadata")
    .where("transcripts.agent", "=", agent)
    .where("transcripts.session_id", "in", sessionIds)
    .execute();
  return rows.some(({ metadata }) => {
    const parsed: unknown = JSON.parse(metadata);
    return isJsonObject(parsed) && parsed[recordedField] !== undefined;
  });
}

/** A program puts its own notes before the first prompt, in the file or in the request. */
const startsMax = 8;

const repliesMax = 8;

/** The identities of the first texts and replies of a conversation. */
export interface ConversationStart {
  texts: string[];
  replies: string[];
}

/** Collects the start of a session; returns whether it is complete. */
export function collectStart({ texts, replies }: ConversationStart, event: ReaderEvent, sessionId: string): boolean {
  if (event.kind !== "entry" || event.sessionId !== sessionId || event.entry.type !== "message") return false;
  const { message } = event.entry;
  if (message.role === "assistant") replies.push(...identifyBlocks(message));
  else if (message.role === "user" && replies.length === 0 && texts.length < startsMax)
    texts.push(...identifyBlocks(message));
  return replies.length >= repliesMax;
}

/**
 * Finds the sessions that recorded the conversation of a file: those with its session id, its first text and one of its
 * first replies. Another client may send the same text under the same id, but it gets other replies.
 */
export async function findRecordedIds(
  store: Store,
  agent: string,
  sessionId: string,
  { texts, replies }: ConversationStart,
): Promise<string[]> {
  const ids = texts.flatMap((start) => listRecordedIds({ sessionId, start }));
  if (ids.length === 0 || replies.length === 0) return [];
  const rows = await store.db
    .selectFrom("transcripts")
    .select(["id", "conversation", "session_id"])
    .where("agent", "=", agent)
    .where("session_id", "in", ids)
    .execute();
  const own: string[] = [];
  for (const { id, conversation, session_id } of rows) {
    const { blocks } = await readRecordedBlocks(store, { agent, conversation, transcript: id, empty: false });
    if (blocks.some(({ block }) => replies.includes(block))) own.push(session_id);
  }
  return own.sort((a, b) => ids.indexOf(a) - ids.indexOf(b));
}

/**
 * The messages of a session whose requests were recorded, in the order of their arrival. A request has whole messages
 * where the file has a line for every block: a line whose content is stored gets the id of the message that has it.
 */
export class RecordedSession {
  readonly #entryIds: readonly string[];
  readonly #known: ReadonlySet<string>;
  readonly #reasoned: ReadonlySet<string>;
  readonly #aligner: BlockAligner;
  /** The stored message of each line of the file that is stored under another id. */
  readonly #aliases = new Map<string, string>();
  #last: { responseId: string; entryId: string } | undefined;

  private constructor(blocks: { block: string; id: string }[], known: Set<string>, reasoned: Set<string>) {
    this.#entryIds = blocks.map(({ id }) => id);
    this.#aligner = new BlockAligner(blocks.map(({ block }) => block));
    this.#known = known;
    this.#reasoned = reasoned;
  }

  static async open(store: Store, ref: OpenedSession): Promise<RecordedSession> {
    const { blocks, known, reasoned } = await readRecordedBlocks(store, ref);
    return new RecordedSession(blocks, known, reasoned);
  }

  /** The drafts with the ids of what is stored, and with parents that exist. */
  resolve(drafts: readonly ImportDraft[]): ImportDraft[] {
    const own = drafts.map((draft) => (draft.type === "message" ? identifyBlocks(draft.message) : []));
    const positions = this.#aligner.match(own.flat());
    let from = 0;
    const stored = own.map((blocks) => {
      const found = positions.slice(from, from + blocks.length);
      from += blocks.length;
      const last = found.at(-1);
      return last === undefined || found.includes(undefined) ? undefined : this.#entryIds[last];
    });
    return drafts.map((draft, index) => this.#rename(draft, stored[index] ?? this.#findReply(drafts, stored, index)));
  }

  #rename(draft: ImportDraft, entryId: string | undefined): ImportDraft {
    const responseId = getResponseId(draft);
    if (entryId !== undefined && responseId !== undefined) this.#last = { responseId, entryId };
    if (entryId !== undefined && !this.#known.has(draft.id)) {
      this.#aliases.set(draft.id, entryId);
      return { ...draft, id: entryId, parentId: undefined };
    }
    const { parentId } = draft;
    return typeof parentId === "string" ? { ...draft, parentId: this.#aliases.get(parentId) ?? parentId } : draft;
  }

  /** Reasoning has no identity of its own; it belongs to the reply that its other blocks are stored with. */
  #findReply(drafts: readonly ImportDraft[], stored: (string | undefined)[], index: number): string | undefined {
    const draft = drafts[index];
    const responseId = draft && getResponseId(draft);
    if (draft?.type !== "message" || responseId === undefined || identifyBlocks(draft.message).length > 0)
      return undefined;
    const next = drafts.findIndex(
      (one, at) => at > index && stored[at] !== undefined && getResponseId(one) === responseId,
    );
    const before = this.#last?.responseId === responseId ? this.#last.entryId : undefined;
    const entryId = (next === -1 ? undefined : stored[next]) ?? before;
    return entryId !== undefined && this.#reasoned.has(entryId) ? entryId : undefined;
  }
}

interface RecordedBlocks {
  blocks: { block: string; id: string }[];
  known: Set<string>;
  /** The entries with reasoning. */
  reasoned: Set<string>;
}

async function readRecordedBlocks(store: Store, ref: OpenedSession): Promise<RecordedBlocks> {
  const rows = await store.db
    .selectFrom("entries")
    .select("seq")
    .where("agent", "=", ref.agent)
    .where("conversation", "=", ref.conversation)
    .orderBy("seq")
    .execute();
  const blocks: { block: string; id: string }[] = [];
  const known = new Set<string>();
  const reasoned = new Set<string>();
  const seqs = rows.map(({ seq }) => Number(seq));
  for (const entry of await readEntries(store, ref.agent, seqs)) {
    known.add(entry.id);
    const { id } = entry;
    if (entry.type === "message") {
      blocks.push(...identifyBlocks(entry.message).map((block) => ({ block, id })));
      const { content } = entry.message;
      if (typeof content !== "string" && content.some(({ type }) => type === "reasoning")) reasoned.add(id);
    } else if (entry.type === "compaction") {
      const block = identifyText("user", entry.summary);
      if (block !== undefined) blocks.push({ block, id });
    }
  }
  return { blocks, known, reasoned };
}

/** Lines of one reply have the id of the response in common. */
function getResponseId(draft: ImportDraft): string | undefined {
  const id = draft.type === "message" ? draft.message.wire?.fields.id : undefined;
  return typeof id === "string" ? id : undefined;
}
