import type { Principal } from "../../authorization/index.ts";
import { getParts } from "../../domain/index.ts";
import { getEntryText, type SearchResult, type Session, type Varve } from "../../engine.ts";
import { type Block, blockOf, type Quoted, shortened } from "./block.ts";

export interface RecallRequest {
  prompt: string;
  /** The session of the prompt; absent while nothing of it is stored. */
  session?: Session;
  /** The last of its entries that left the context; absent when all of it is still there. */
  leftAt?: number;
  agent?: string;
  principal?: Principal;
  /** Ids and citations that the session was shown already. */
  shown: ReadonlySet<string>;
  /** Whether to search by meaning as well as by words: a model must be loaded for that. */
  byMeaning: boolean;
  /** How long to wait for the search by meaning before words alone are used. */
  meaningMs?: number;
}

const tokensMax = 1_500;
const promptCharactersMax = 1_000;
const memoriesMax = 5;
const passagesMax = 6;
const textMax = 600;
/** A hook has 200 ms in all. */
const meaningMsDefault = 90;
/** Rows that Claude Code writes for its own commands. */
const ownRows = /^(?:Caveat: |<(?:local-command|command-|bash-|task-notification|system-reminder))/;

/** What memory and history contain about a prompt that the session does not see; undefined when nothing is relevant. */
export async function recallFor(varve: Varve, request: RecallRequest): Promise<Block | undefined> {
  const { agent, principal, shown, byMeaning, meaningMs = meaningMsDefault } = request;
  const { memories, passages } = await varve.memory.recallForPrompt({
    agent,
    principal,
    prompt: request.prompt.slice(0, promptCharactersMax).toWellFormed(),
    memoriesMax,
    passagesMax,
    kinds: ["message", "summary", "chunk"],
    shown,
    skip: (passage) => isInView(passage, request) || ownRows.test(passage.text),
    wordsOnly: !byMeaning,
    meaningMs,
  });
  const quoted: Quoted[] = memories.map(({ memory }) => ({
    citation: memory.id,
    facts: `${new Date(memory.validFrom).toISOString().slice(0, 10)} ${memory.category}`,
    text: shortened(memory.content, textMax),
  }));
  for (const passage of passages) {
    if (!(await quotesVarve(varve, passage, agent))) quoted.push(quote(passage));
  }
  return blockOf(quoted, {
    note: "what memory and earlier sessions hold about the prompt below",
    behind:
      "(Open more of it with the tools of Varve: memory_get takes the ids in brackets, lcm_grep and memory_search find more.)",
    tokensMax,
  });
}

/** Claude Code still sees what was said in its session since the last compaction. */
function isInView({ sessionKey, seq }: SearchResult, { session, leftAt }: RecallRequest): boolean {
  if (session === undefined || sessionKey !== session.key) return false;
  return leftAt === undefined || (seq !== undefined && seq > leftAt);
}

function quote({ citation, kind, sessionKey, time, text, snippet }: SearchResult): Quoted {
  const where = sessionKey === null ? "" : ` in ${sessionKey}`;
  const facts = `${new Date(time).toISOString().slice(0, 16)} ${kind}${where}`;
  // A long message is quoted where it matches.
  return { citation, facts, text: kind === "message" && text.length <= textMax ? text : snippet };
}

/** Whether a message is the result of one of Varve's own tools: the message that it quotes is found as well. */
async function quotesVarve(varve: Varve, passage: SearchResult, agent: string | undefined): Promise<boolean> {
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
