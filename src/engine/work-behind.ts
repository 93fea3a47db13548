import { sql } from "kysely";
import { type Message, roles } from "../domain/index.ts";
import { isWorthReading } from "../memory/index.ts";
import type { Session } from "../session/index.ts";
import type { NewJob } from "../store/index.ts";
import { estimateMessageTokens } from "../tokens/index.ts";
import { decodeBody } from "../transcript/index.ts";
import type { TurnFacts } from "./compaction.ts";
import { contextSettings, mayCompact } from "./context-settings.ts";
import type { EngineHost } from "./host.ts";
import { extractJob, mayExtract } from "./memory-settings.ts";
import { compactJob } from "./work.ts";

/** The work a turn leaves behind. It errs towards yes; most turns surely leave none, and no job is made for them. */
export async function workBehind(
  host: EngineHost,
  session: Session,
  messages: readonly Message[],
  facts: TurnFacts,
): Promise<NewJob[]> {
  const { config } = host.loaded;
  const may = { compact: mayCompact(config, session).may, extract: mayExtract(config, session) };
  if (!may.compact && !may.extract) return [];
  const { everyMessages, read } = await readBehind(host, session, may.extract);
  const compacts = may.compact && (read === undefined || mayBeFull(host, session, messages, facts, read.tokens));
  const extracts =
    may.extract && (read === undefined || read.isLong || isWorthReading([...read.unseen, ...messages], everyMessages));
  return [
    ...(compacts ? [compactJob(host, session, { because: "turn", ...facts })] : []),
    ...(extracts ? [extractJob(host, session, "turn")] : []),
  ];
}

/** Only a conversation that holds less altogether than one leaf and the threshold surely has nothing to compact. */
function mayBeFull(
  { loaded: { config } }: EngineHost,
  session: Session,
  messages: readonly Message[],
  facts: TurnFacts,
  stored: number,
): boolean {
  const { leafChunkTokens, contextThreshold, windowTokens } = contextSettings(config, { session, ...facts });
  const threshold = Math.floor(contextThreshold * windowTokens);
  const tokens = stored + messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
  return Math.max(tokens, facts.observedTokens ?? 0) >= Math.min(leafChunkTokens, threshold) * certainShare;
}

/** Estimates of what is about to be written and of what is stored may differ a little. */
const certainShare = 0.8;
/** However seldom memories are drawn: a job reads no more than this at once. */
const unseenMax = 40;
/** What is longer is read by the job: it may hold anything, and part of it is kept elsewhere. */
const readTokensMax = 4_000;

interface Behind {
  everyMessages: number;
  /** Nothing is told of a conversation with more than one branch: what counts of it takes more than a look. */
  read?: { tokens: number; unseen: Message[]; isLong: boolean };
}

async function readBehind({ store, loaded }: EngineHost, session: Session, extracts: boolean): Promise<Behind> {
  const { agent, conversation } = session;
  const everyMessages = loaded.config.memory.extractEveryMessages;
  const conversations = store.db
    .selectFrom("conversations as c")
    .leftJoin("branches as b", (join) =>
      join
        .onRef("b.agent", "=", "c.agent")
        .onRef("b.conversation", "=", "c.id")
        .onRef("b.branch", "=", "c.head_branch"),
    )
    .select(["c.tokens", "c.branch_count", "b.parent_conversation"])
    .where("c.agent", "=", agent)
    .where("c.id", "=", conversation);
  const unseen = store.db
    .selectFrom("entries")
    .select(["kind", "payload", "tokens"])
    .where("agent", "=", agent)
    .where("conversation", "=", conversation)
    .where("branch", "=", 1)
    .where(
      "seq",
      ">",
      sql<number>`coalesce((select seq from memory_cursors where agent = ${agent} and conversation = ${conversation}), 0)`,
    )
    .where("kind", "in", [...roles])
    .orderBy("seq")
    .limit(extracts ? Math.min(everyMessages, unseenMax) : 0);
  const [[row], entries] = await store.readTogether([conversations, unseen]);
  if (!row || row.branch_count > 1 || row.parent_conversation !== null) return { everyMessages };
  const isLong = entries.length >= unseenMax || entries.some(({ tokens }) => tokens > readTokensMax);
  const said = isLong ? [] : entries.flatMap(({ kind, payload }) => messageIn(kind, payload));
  return { everyMessages, read: { tokens: row.tokens, unseen: said, isLong } };
}

function messageIn(kind: string, payload: string): Message[] {
  const body = decodeBody(kind, payload);
  return "message" in body ? [body.message] : [];
}
