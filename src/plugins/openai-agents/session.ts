import { type EntryDraft, isJsonObject, type JsonObject } from "../../domain/index.ts";
import { type Entry, estimateTokens, type Session, type Varve, VarveError } from "../../index.ts";
import { type AgentItem, createTextItem, toMessage } from "./items.ts";

export interface AgentSessionOptions {
  varve: Varve;
  session: Session;
  /** The tokens that the items may have; three quarters of the setting `context.windowTokens` when absent. */
  budgetTokens?: number;
}

/** The session of a run of the OpenAI Agents SDK. */
export interface AgentSession {
  getSessionId(): Promise<string>;
  getItems(limit?: number): Promise<never[]>;
  addItems(items: unknown[]): Promise<void>;
  popItem(): Promise<never | undefined>;
  clearSession(): Promise<void>;
}

const field = "openaiAgents";
const customType = "openai-agents:item";
const windowShare = 0.75;
/** The share of the budget that a compaction aims at, and that of the summaries in it. */
const compactedShare = 0.6;
const summaryShare = 0.3;

interface StoredItem {
  id: string;
  item: AgentItem;
}

/**
 * Keeps the items of runs in a session of Varve. A history that is longer than the budget begins with summaries of what
 * is older; every item stays stored.
 *
 * @example
 * const session = await varve.sessions.resolve({ channel: "app", peer: user.id });
 * await run(agent, "What did we decide?", { session: createAgentSession({ varve, session }) });
 */
export function createAgentSession(options: AgentSessionOptions): AgentSession {
  const { varve } = options;
  if (!options.session) {
    throw new VarveError("BAD_REQUEST", "There is no session: nobody is named.", {
      remedy: 'Pass that of the person who speaks: varve.sessions.resolve({ channel: "app", peer: user.id }).',
    });
  }
  const budgetTokens = options.budgetTokens ?? Math.floor(varve.settings.config.context.windowTokens * windowShare);
  let session = options.session;

  const listItems = async (): Promise<StoredItem[]> => {
    const items: StoredItem[] = [];
    for await (const page of varve.transcripts.walk(session)) {
      for (const entry of page) {
        const item = readItem(entry);
        if (item) items.push({ id: entry.id, item });
      }
    }
    return items;
  };
  /** The newest items of a history that is too long, after the summaries of the others. */
  const fitItems = async (items: readonly StoredItem[]): Promise<AgentItem[]> => {
    const total = items.reduce((sum, { item }) => sum + countTokens(item), 0);
    if (total <= budgetTokens) return items.map(({ item }) => item);
    await varve.context.compact(session, { budgetTokens: Math.floor(budgetTokens * compactedShare), splitTurns: true });
    const prefix = await varve.context.summaryPrefix(session, {
      budgetTokens: Math.floor(budgetTokens * summaryShare),
    });
    const covered = items.findIndex(({ id }) => id === prefix.coveredId);
    const summaries = prefix.summaries.map(({ text }) => createTextItem(text));
    return [...summaries, ...items.slice(covered + 1).map(({ item }) => item)];
  };

  const own = {
    getSessionId: async () => session.sessionId,
    async getItems(limit?: number): Promise<AgentItem[]> {
      const items = await listItems();
      return limit === undefined ? fitItems(items) : items.slice(-limit).map(({ item }) => item);
    },
    async addItems(items: AgentItem[]): Promise<void> {
      if (items.length === 0) return;
      await varve.transcripts.append(session, items.map(toDraft));
      await varve.context.afterTurn(session);
    },
    async popItem(): Promise<AgentItem | undefined> {
      const items = await listItems();
      const [before, last] = items.slice(-2).length === 2 ? items.slice(-2) : [undefined, items.at(-1)];
      if (!last) return undefined;
      // The log keeps the item; the conversation continues before it.
      if (before) await varve.transcripts.moveHead(session, before.id);
      else session = await varve.sessions.renew(session, "reset");
      return last.item;
    },
    async clearSession(): Promise<void> {
      session = await varve.sessions.renew(session, "reset");
    },
  };
  return own as unknown as AgentSession;
}

function countTokens(item: AgentItem): number {
  return estimateTokens(JSON.stringify(item));
}

function toDraft(given: AgentItem): EntryDraft {
  const item = JSON.parse(JSON.stringify(given)) as JsonObject;
  const message = toMessage(item);
  if (message === undefined) return { type: "custom", customType, data: item };
  return { type: "message", message, extra: { [field]: item } };
}

function readItem(entry: Entry): AgentItem | undefined {
  if (entry.type === "custom")
    return entry.customType === customType ? (entry.data as unknown as AgentItem) : undefined;
  const item = entry.extra?.[field];
  return entry.type === "message" && isJsonObject(item) ? (item as unknown as AgentItem) : undefined;
}
