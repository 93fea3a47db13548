import type { Principal } from "../../authorization/index.ts";
import { formatStamp, getParts } from "../../domain/index.ts";
import { getEntryText, type SearchResult, type Session, type Varve } from "../../index.ts";
import { type Block, createBlock, type Quotation, shortenText } from "./block.ts";

export interface RecallRequest {
  prompt: string;
  /** The session of the prompt; absent before its first import. */
  session?: Session;
  /** The last entry that left the context; absent when all entries are still in it. */
  compactedSeq?: number;
  agent?: string;
  principal?: Principal;
  /** Ids and citations that are already in the session's context. */
  shown: ReadonlySet<string>;
  /** Whether to search by embeddings as well as by keywords; that needs a loaded model. */
  byMeaning: boolean;
  /** How long to wait for the embedding search before only keywords are used. */
  meaningMs?: number;
}

const tokensMax = 1_500;
const promptCharactersMax = 1_000;
const memoriesMax = 5;
const passagesMax = 6;
const textMax = 600;
/** A hook has 200 ms in total. */
const meaningMsDefault = 90;
/** Rows that Claude Code writes for its own commands. */
const clientRows = /^(?:Caveat: |<(?:local-command|command-|bash-|task-notification|system-reminder))/;

/** Recalls memories and messages about a prompt that are not in the session's context; undefined when nothing is relevant. */
export async function recallForPrompt(varve: Varve, request: RecallRequest): Promise<Block | undefined> {
  const { agent, principal, shown, byMeaning, meaningMs = meaningMsDefault } = request;
  const { memories, passages } = await varve.memory.recallForPrompt({
    agent,
    principal,
    prompt: request.prompt.slice(0, promptCharactersMax).toWellFormed(),
    memoriesMax,
    passagesMax,
    kinds: ["message", "summary", "chunk"],
    shown,
    skip: (passage) => isInContext(passage, request) || clientRows.test(passage.text),
    wordsOnly: !byMeaning,
    meaningMs,
  });
  const quoted: Quotation[] = memories.map(({ memory }) => ({
    citation: memory.id,
    facts: `${new Date(memory.validFrom).toISOString().slice(0, 10)} ${memory.category}`,
    text: shortenText(memory.content, textMax),
  }));
  for (const passage of passages) {
    if (!(await isRecallResult(varve, passage, agent))) quoted.push(createQuotation(passage));
  }
  return createBlock(quoted, {
    note: "memories and earlier messages about the prompt below",
    footer:
      "(To read more, use Varve's tools: memory_get takes the ids in brackets, lcm_grep and memory_search find more.)",
    tokensMax,
  });
}

/** Claude Code's context contains its session since the last compaction. */
function isInContext({ sessionKey, seq }: SearchResult, { session, compactedSeq: leftAt }: RecallRequest): boolean {
  if (session === undefined || sessionKey !== session.key) return false;
  return leftAt === undefined || (seq !== undefined && seq > leftAt);
}

function createQuotation({ citation, kind, sessionKey, time, text, snippet }: SearchResult): Quotation {
  const where = sessionKey === null ? "" : ` in ${sessionKey}`;
  const facts = `${formatStamp(time)} ${kind}${where}`;
  // A long message is quoted where it matches.
  return { citation, facts, text: kind === "message" && text.length <= textMax ? text : snippet };
}

/** Whether a message is the result of one of Varve's own tools: the message that it quotes is found as well. */
async function isRecallResult(varve: Varve, passage: SearchResult, agent: string | undefined): Promise<boolean> {
  const { kind, sessionKey, citation, text } = passage;
  if (kind !== "message" || sessionKey === null || !/\bmsg#\d+\b/.test(text)) return false;
  try {
    const session = await varve.sessions.get(sessionKey, agent);
    const entry = await varve.transcripts.entry(session, citation);
    const parts = entry.type === "message" ? getParts(entry.message) : [];
    return parts.length > 0 && parts.every((part) => part.type === "tool_result") && getEntryText(entry) !== "";
  } catch {
    // An archived conversation shares its key with the current one; then the message is quoted.
    return false;
  }
}
