import { isOfAgent, type Store } from "../store/index.ts";
import { parseBody, readPayloads } from "./codec.ts";
import { getEntryText } from "./entry-text.ts";
import { messageKinds } from "./message-candidates.ts";

/** A message as full-text scans see it. */
export interface ScannedMessage {
  seq: number;
  conversation: number;
  time: number;
  /** The role of the message, or the type of its entry. */
  kind: string;
  text: string;
}

const messagesAtOnce = 500;
/** Pages read ahead while the caller processes earlier ones. */
const pagesAhead = 3;

/** The messages among some entries, in pages, newest first as the numbers, with large content restored. */
export async function* scanMessages(
  store: Store,
  agent: string,
  seqs: readonly number[],
): AsyncGenerator<ScannedMessage[]> {
  const waiting: Promise<ScannedMessage[]>[] = [];
  let from = 0;
  try {
    while (from < seqs.length || waiting.length > 0) {
      while (from < seqs.length && waiting.length < pagesAhead) {
        const page = readTexts(store, agent, seqs.slice(from, from + messagesAtOnce));
        // It may fail before its turn to be awaited, or when the caller wants no more.
        page.catch(() => undefined);
        waiting.push(page);
        from += messagesAtOnce;
      }
      const page = waiting.shift();
      if (page) yield await page;
    }
  } finally {
    await Promise.allSettled(waiting);
  }
}

async function readTexts(store: Store, agent: string, seqs: number[]): Promise<ScannedMessage[]> {
  const rows = await store.db
    .selectFrom("entries")
    .select(["seq", "conversation", "time", "kind", "payload"])
    .where("seq", "in", seqs)
    .where("kind", "in", messageKinds)
    .where(isOfAgent(store, agent))
    .orderBy("seq", "desc")
    .execute();
  const payloads = await readPayloads(store, agent, rows, "original");
  return rows.map(({ seq, conversation, time, kind }, index) => ({
    seq,
    conversation,
    time,
    kind,
    text: getEntryText(parseBody(kind, payloads[index] ?? {})),
  }));
}
