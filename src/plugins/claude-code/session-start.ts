import { basename } from "node:path";
import type { Principal } from "../../authorization/index.ts";
import { formatStamp } from "../../domain/index.ts";
import { getEntryText, type Session, type Varve } from "../../index.ts";
import { type Block, createBlock, type Quotation, shortenText } from "./block.ts";

export interface StartRequest {
  source: string;
  session?: Session;
  /** Whether the session's context was compacted before. */
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

/** Creates the block at the start of a session: memories, and after a compaction how to read the earlier messages. */
export async function createStartBlock(varve: Varve, request: StartRequest): Promise<Block | undefined> {
  const { source, session, compacted } = request;
  if (source === "compact" || (source === "resume" && compacted)) {
    return (
      session && createCompactionBlock(varve, session, source === "compact" ? await quoteMemories(varve, request) : [])
    );
  }
  if (source !== "startup" && source !== "clear") return undefined;
  const [memories, last] = await Promise.all([quoteMemories(varve, request), quoteLastSession(varve, request)]);
  return createBlock([...last.quotations, ...memories], {
    note:
      last.title === undefined
        ? "memories that may be relevant to this project"
        : "the last session in this folder, and memories",
    ...(last.title === undefined
      ? {}
      : { footer: `(Last time here: ${last.title}. lcm_describe opens a citation, lcm_grep finds more.)` }),
    tokensMax,
  });
}

const handoverTokens = 450;
const handoverLines = 24;

/** Quotes the hand-over of the last session that was started in the same folder: what is open first. */
async function quoteLastSession(
  varve: Varve,
  { cwd, agent, session }: StartRequest,
): Promise<{ title?: string; quotations: Quotation[] }> {
  if (cwd === undefined) return { quotations: [] };
  const { sessions } = await varve.sessions.list({ cwd, limit: 3, ...(agent === undefined ? {} : { agent }) });
  const last = sessions.find((one) => one.sessionId !== session?.sessionId && one.messageCount > 1);
  if (last === undefined) return { quotations: [] };
  const {
    title = "a session without a title",
    description,
    text,
  } = await varve.context.handover(last, { tokens: handoverTokens });
  const quotations = readSections(text);
  const open = quotations.filter(({ facts }) => facts === "open");
  const others = quotations.filter(({ facts }) => facts !== "open");
  const overview = {
    citation: last.sessionId,
    facts: `last used ${formatStamp(last.lastInteractionAt, varve.settings.config.timezone)}`,
    text: description,
  };
  return {
    title: shortenText(title, 80).replaceAll(/[<>]/g, ""),
    quotations: [overview, ...open, ...others].slice(0, handoverLines),
  };
}

/** The lines of a hand-over, each with the message it cites and its section. */
function readSections(text: string): Quotation[] {
  let section = "";
  return text.split("\n").flatMap((line): Quotation[] => {
    if (/^(?:Requests|Done|Found|Open|Refer)$/.test(line)) section = line.toLowerCase();
    const found = /^- (.+?)(?: \[(msg#\d+)\])?$/.exec(line);
    if (found?.[1] === undefined || section === "") return [];
    return [{ citation: found[2] ?? "log", facts: section, text: shortenText(found[1], requestLength) }];
  });
}

async function createCompactionBlock(
  varve: Varve,
  session: Session,
  memories: Quotation[],
): Promise<Block | undefined> {
  const requests = await quoteRequests(varve, session);
  return createBlock([...memories, ...requests], {
    note: `this session was compacted; all earlier messages are stored as ${session.sessionId}`,
    footer:
      `(To read the messages before the compaction word for word, use Varve's tools: lcm_grep or lcm_expand_query with ` +
      `conversationId "${session.sessionId}". Do so before you state details of them.)`,
    tokensMax,
  });
}

/** Quotes the user's last requests before the compaction, oldest first. */
async function quoteRequests(varve: Varve, session: Session): Promise<Quotation[]> {
  const { entries } = await varve.transcripts.read(session, { limit: tailEntries });
  return entries
    .flatMap((entry) => {
      if (entry.type !== "message" || entry.message.role !== "user" || entry.extra?.isMeta === true) return [];
      const text = getEntryText(entry);
      // Tool results and command output have the role user too.
      if (text === "" || text.startsWith("<") || entry.extra?.toolUseResult !== undefined) return [];
      const facts = `${formatStamp(entry.time, varve.settings.config.timezone)} asked`;
      return [{ citation: `msg#${entry.seq}`, facts, text: shortenText(text, requestLength) }];
    })
    .slice(-requestsMax);
}

/** Quotes the user's profile and preferences, and memories about the project's name. */
async function quoteMemories(varve: Varve, { cwd, agent, principal }: StartRequest): Promise<Quotation[]> {
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
  const relevant = recalled.memories.map((hit) => hit.memory);
  const all = new Map([...lists.flatMap((list) => list.memories), ...relevant].map((memory) => [memory.id, memory]));
  return [...all.values()].slice(0, memoriesMax).map((memory) => ({
    citation: memory.id,
    facts: `${new Date(memory.validFrom).toISOString().slice(0, 10)} ${memory.category}`,
    text: shortenText(memory.content, requestLength),
  }));
}
