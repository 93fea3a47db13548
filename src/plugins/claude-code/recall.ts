import { setTimeout as sleep } from "node:timers/promises";
import { getParts } from "../../domain/index.ts";
import {
  getEntryText,
  type SearchAnswer,
  type SearchResult,
  type Session,
  type Varve,
  wantsRecall,
} from "../../engine.ts";
import { type Block, blockOf, type Quoted, shortened } from "./block.ts";

export interface RecallRequest {
  prompt: string;
  /** The session the prompt is said in; absent while nothing of it is stored. */
  session?: Session;
  /** The last of its entries that left the context; absent when all of it is still there. */
  leftAt?: number;
  agent?: string;
  scopes?: readonly string[];
  /** What the session was shown already. */
  shown: ReadonlySet<string>;
  /** Whether meaning is searched for as well as words: a model must be loaded for that. */
  byMeaning: boolean;
}

const tokensMax = 1_500;
const queryMax = 1_000;
const memoriesMax = 5;
const passagesMax = 6;
/** How sure the search has to be: on a dozen prompts, half of them with an answer in the history, 0.4 parted the two. */
const certaintyLeast = 0.4;
/** So many come along where it is not quite sure. */
const doubtfulMax = 2;
const candidatesMax = 24;
const textMax = 600;
/** How long a search by meaning is waited for. */
const meaningMs = 90;
/** The least a memory must fit a prompt to come along unasked; the same as in a view of Varve's own. */
const relevanceLeast = 0.25;
/** What is much less fitting than the best is left to the tools. */
const scoreShare = 0.6;
/** Rows that Claude Code writes for its own commands. */
const ownRows = /^(?:Caveat: |<(?:local-command|command-|bash-|task-notification|system-reminder))/;

/** What memory and history hold about a prompt, of this session only what left its context; undefined when nothing fits well. */
export async function recallFor(varve: Varve, request: RecallRequest): Promise<Block | undefined> {
  const { shown } = request;
  if (!wantsRecall(request.prompt)) return undefined;
  const query = request.prompt.slice(0, queryMax).toWellFormed();
  const [memories, passages] = await Promise.all([
    memoriesAbout(varve, query, request),
    passagesAbout(varve, query, request),
  ]);
  const fresh = (one: Quoted): boolean => !shown.has(one.citation);
  return blockOf([...memories.filter(fresh).slice(0, memoriesMax), ...passages.filter(fresh).slice(0, passagesMax)], {
    note: "what memory and earlier sessions hold about the prompt below",
    behind:
      "(Open more of it with the tools of Varve: memory_get takes the ids in brackets, lcm_grep and memory_search find more.)",
    tokensMax,
  });
}

async function memoriesAbout(varve: Varve, query: string, { agent, scopes, shown }: RecallRequest): Promise<Quoted[]> {
  if (!varve.settings.config.memory.recall) return [];
  const as = { ...(agent === undefined ? {} : { agent }), ...(scopes === undefined ? {} : { scopes }) };
  const { hits } = await varve.memory.recall({ query, limit: memoriesMax + Math.min(shown.size, 50), as });
  return hits
    .filter((hit) => hit.relevance >= relevanceLeast && !hit.outdated)
    .map(({ memory }) => ({
      citation: memory.id,
      facts: `${new Date(memory.validFrom).toISOString().slice(0, 10)} ${memory.category}`,
      text: shortened(memory.content, textMax),
    }));
}

async function passagesAbout(varve: Varve, query: string, request: RecallRequest): Promise<Quoted[]> {
  const { agent, byMeaning } = request;
  const answer = await findInTime(varve, query, { agent, byMeaning });
  const best = answer.results[0]?.score ?? 0;
  if (answer.certainty < certaintyLeast) return [];
  const most = answer.confidence === "strong" ? passagesMax : doubtfulMax;
  const quoted: Quoted[] = [];
  for (const result of answer.results) {
    if (quoted.length >= most) break;
    if (result.score < best * scoreShare || isInView(result, request)) continue;
    if (request.shown.has(result.citation)) continue;
    const one = await quotedFrom(varve, result, agent);
    // The same question, asked before, says nothing.
    if (one && plain(one.text) !== plain(query)) quoted.push(one);
  }
  return quoted;
}

/** By words and meaning; by words alone when meaning takes too long, as it does while a model is being loaded. */
async function findInTime(
  varve: Varve,
  query: string,
  { agent, byMeaning }: Pick<RecallRequest, "agent" | "byMeaning">,
): Promise<SearchAnswer> {
  const options = { agent, kinds: ["message", "summary", "chunk"], limit: candidatesMax, noNetwork: true } as const;
  const find = (retrievers?: ["lexical"]) =>
    varve.search.find(query, { ...options, kinds: [...options.kinds], retrievers });
  if (!byMeaning) return find(["lexical"]);
  const both = find().catch(() => find(["lexical"]));
  return Promise.race([both, sleep(meaningMs, undefined, { ref: false }).then(() => find(["lexical"]))]);
}

/** Claude Code still sees what was said in its session since the last compaction. */
function isInView(result: SearchResult, { session, leftAt }: RecallRequest): boolean {
  if (session === undefined || result.sessionKey !== session.key) return false;
  if (leftAt === undefined) return true;
  const seq = /^msg#(\d+)$/.exec(result.citation)?.[1];
  return seq !== undefined && Number(seq) > leftAt;
}

async function quotedFrom(varve: Varve, result: SearchResult, agent: string | undefined): Promise<Quoted | undefined> {
  const { citation, kind, sessionKey } = result;
  if (ownRows.test(result.snippet)) return undefined;
  const where = sessionKey === null ? "" : ` in ${sessionKey}`;
  const facts = `${new Date(result.time).toISOString().slice(0, 16)} ${kind}${where}`;
  const whole = kind === "message" && sessionKey !== null ? await wholeText(varve, sessionKey, citation, agent) : "";
  if (whole === undefined || ownRows.test(whole)) return undefined;
  // A long message is quoted where it matches.
  return { citation, facts, text: whole === "" || whole.length > textMax ? result.snippet : whole };
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** The words of a message; undefined for what a tool of Varve's own quoted: the message itself is found as well. */
async function wholeText(
  varve: Varve,
  key: string,
  citation: string,
  agent: string | undefined,
): Promise<string | undefined> {
  try {
    const session = await varve.sessions.get(key, agent);
    const entry = await varve.transcripts.entry(session, citation);
    const text = getEntryText(entry);
    const parts = entry.type === "message" ? getParts(entry.message) : [];
    const isResult = parts.length > 0 && parts.every((part) => part.type === "tool_result");
    return isResult && /\bmsg#\d+\b/.test(text) ? undefined : text;
  } catch {
    // An archived conversation shares its key with the one in use; the snippet stands for the message then.
    return "";
  }
}
