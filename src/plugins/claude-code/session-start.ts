import { basename } from "node:path";
import type { Principal } from "../../authorization/index.ts";
import { getEntryText, type Session, type Varve } from "../../engine.ts";
import { type Block, blockOf, type Quoted, shortened } from "./block.ts";

export interface StartRequest {
  source: string;
  session?: Session;
  /** Whether its context was compacted before. */
  compacted?: boolean;
  cwd?: string;
  agent?: string;
  principal?: Principal;
}

const tokensMax = 800;
const memoriesMax = 6;
const requestsMax = 4;
const requestLength = 240;
const tailEntries = 400;

/** A short block at the start: what is known, and after a compaction how to open what left the context. */
export async function startBlock(varve: Varve, request: StartRequest): Promise<Block | undefined> {
  const { source, session, compacted } = request;
  if (source === "compact" || (source === "resume" && compacted)) {
    return session && afterCompaction(varve, session, source === "compact" ? await known(varve, request) : []);
  }
  if (source !== "startup" && source !== "clear") return undefined;
  return blockOf(await known(varve, request), { note: "what memory holds that may matter in this project", tokensMax });
}

async function afterCompaction(varve: Varve, session: Session, memories: Quoted[]): Promise<Block | undefined> {
  const requests = await requestsOf(varve, session);
  return blockOf([...memories, ...requests], {
    note: `this session was compacted; every word from before is kept as ${session.sessionId}`,
    behind:
      `(What was said before the compaction can be opened word for word with Varve's tools: lcm_grep or lcm_expand_query ` +
      `with conversationId "${session.sessionId}". Look there before asserting details of it.)`,
    tokensMax,
  });
}

/** What the person asked for before the context was compacted: the last few requests, oldest first. */
async function requestsOf(varve: Varve, session: Session): Promise<Quoted[]> {
  const { entries } = await varve.transcripts.read(session, { limit: tailEntries });
  return entries
    .flatMap((entry) => {
      if (entry.type !== "message" || entry.message.role !== "user" || entry.extra?.isMeta === true) return [];
      const text = getEntryText(entry);
      // Results of tools and rows of commands come as the user's too.
      if (text === "" || text.startsWith("<") || entry.extra?.toolUseResult !== undefined) return [];
      const facts = `${new Date(entry.time).toISOString().slice(0, 16)} asked`;
      return [{ citation: `msg#${entry.seq}`, facts, text: shortened(text, requestLength) }];
    })
    .slice(-requestsMax);
}

/** Who the person is, what they prefer, and what is remembered of the project by its name. */
async function known(varve: Varve, { cwd, agent, principal }: StartRequest): Promise<Quoted[]> {
  if (!varve.settings.config.memory.recall) return [];
  const lists = await Promise.all([
    varve.memory.list({ category: "profile", limit: 3, agent, principal }),
    varve.memory.list({ category: "preferences", limit: 3, agent, principal }),
  ]);
  const project =
    cwd === undefined
      ? ""
      : basename(cwd)
          .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
          .trim();
  const recalled = await varve.memory.recallForPrompt({
    agent,
    principal,
    prompt: project,
    memoriesMax,
    passagesMax: 0,
    kinds: [],
    always: true,
  });
  const fitting = recalled.memories.map((hit) => hit.memory);
  const all = new Map([...lists.flatMap((list) => list.memories), ...fitting].map((memory) => [memory.id, memory]));
  return [...all.values()].slice(0, memoriesMax).map((memory) => ({
    citation: memory.id,
    facts: `${new Date(memory.validFrom).toISOString().slice(0, 10)} ${memory.category}`,
    text: shortened(memory.content, requestLength),
  }));
}
