import type { VectorPage, VectorPageQuery } from "../port.ts";
import { createVectorPage, setVectorRow, type VectorRow } from "../vector-page.ts";
import type { Statements } from "./statements.ts";

type RawRow = [VectorRow["seq"], VectorRow["conversation"], VectorRow["time"], VectorRow["vector"]];

const selected = `select seq, conversation, time, vector from entry_vectors
  where agent = ? and space = ? and seq > ? and seq <= ? and length(vector) = ?`;
const newestFirst = "order by seq desc limit ?";
const ofAgent = `${selected} ${newestFirst}`;
const ofConversation = `${selected} and conversation = ? ${newestFirst}`;

/** Reads a page of vectors inside the worker thread. */
export function readVectors(statements: Statements, query: VectorPageQuery): VectorPage {
  const { agent, space, conversation, after, upTo, dimensions, limit } = query;
  const bounds = [agent, space, after, upTo, dimensions];
  const rows = (
    conversation === undefined
      ? statements.rows(ofAgent, ...bounds, limit)
      : statements.rows(ofConversation, ...bounds, conversation, limit)
  ) as RawRow[];
  const page = createVectorPage(rows.length, dimensions);
  for (const [index, [seq, conversationOfRow, time, vector]] of rows.entries()) {
    setVectorRow(page, index, { seq, conversation: conversationOfRow, time, vector });
  }
  return page;
}
