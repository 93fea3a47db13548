import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/index.ts";
import { type EntryDraft, type Session, type Varve, VarveError } from "../../index.ts";
import type { SpeakerOptions } from "../speaker.ts";
import { GraphSessions } from "./graph-sessions.ts";
import type {
  GetOperation,
  Item,
  ListNamespacesOperation,
  MatchCondition,
  PutOperation,
  SearchItem,
  SearchOperation,
} from "./host-types.ts";
import { matchesFilter, readItemText } from "./item-text.ts";

const channel = "langgraph-store";
/** The field of an entry with the item. */
const field = "langgraphStore";
const customType = "langgraph:item";
const itemPrefix = "item:";
const limitDefault = 10;
const namespacesDefault = 100;
/** The results of one search; items that it does not return follow without a score. */
const resultsMax = 200;

/** The entries of an item in the log. */
interface ItemRow {
  /** The current version. */
  seq: number;
  /** The version that created it. */
  first: number;
}

export interface ItemStoreOptions {
  varve: Varve;
  agent: string | undefined;
  /** The fields of items that searches read; everything when absent. */
  fields: readonly string[] | undefined;
  /** Whose items these are. */
  who: SpeakerOptions;
}

/** Each namespace is a session: its log has every version of its items, and its states say which is the current one. */
export class ItemStore {
  readonly #varve: Varve;
  readonly #agent: string | undefined;
  readonly #fields: readonly string[] | undefined;
  readonly #who: SpeakerOptions;

  constructor({ varve, agent, fields, who }: ItemStoreOptions) {
    this.#varve = varve;
    this.#agent = agent;
    this.#fields = fields;
    this.#who = who;
  }

  async get({ namespace, key }: GetOperation): Promise<Item | null> {
    const session = await (await this.#openSessions()).find(channel, namespace);
    return session ? ((await this.#readItems(session, namespace, [key]))[0]?.item ?? null) : null;
  }

  async put({ namespace, key, value, index }: PutOperation): Promise<void> {
    checkNamespace(namespace);
    const sessions = await this.#openSessions();
    const session = value === null ? await sessions.find(channel, namespace) : await sessions.open(channel, namespace);
    if (!session) return;
    const draft = toDraft(key, value, index === false ? undefined : (index ?? this.#fields ?? ["$"]));
    const { entries } = await this.#varve.transcripts.append(session, [draft]);
    const seq = entries[0]?.seq;
    const name = itemPrefix + key;
    await this.#varve.transcripts.states.change(session, [name], (current) => {
      const known = readRow(current.get(name));
      // Of two puts at the same time, the one that is later in the log counts.
      if (seq === undefined || (known && known.seq > seq)) return {};
      if (value === null) return { [name]: undefined };
      return { [name]: { seq, first: known?.first ?? seq } };
    });
  }

  async search({
    namespacePrefix,
    filter = {},
    query,
    limit = limitDefault,
    offset = 0,
  }: SearchOperation): Promise<SearchItem[]> {
    const found: SearchItem[] = [];
    for (const { session, names } of await this.#listSessions(namespacePrefix)) {
      const keys = await this.#listKeys(session);
      const items = (await this.#readItems(session, names, keys)).filter(({ item }) =>
        Object.entries(filter).every(([name, wanted]) => matchesFilter(item.value[name], wanted)),
      );
      const scores = query?.trim() ? await this.#score(session, query) : new Map<number, number>();
      for (const { item, seq } of items) {
        const score = scores.get(seq);
        found.push(score === undefined ? item : { ...item, score });
      }
    }
    // Without a query, the newest come first.
    found.sort((a, b) => (query ? (b.score ?? -1) - (a.score ?? -1) : b.updatedAt.getTime() - a.updatedAt.getTime()));
    return found.slice(offset, offset + limit);
  }

  async listNamespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit = namespacesDefault, offset = 0 } = operation;
    const found = new Map<string, string[]>();
    for await (const { session, names } of (await this.#openSessions()).list(channel)) {
      if (!matchConditions.every((condition) => matchesPath(condition, names))) continue;
      if ((await this.#listKeys(session)).length === 0) continue;
      const shown = names.slice(0, maxDepth ?? names.length);
      found.set(JSON.stringify(shown), shown);
    }
    const sorted = [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, names]) => names);
    return sorted.slice(offset, offset + limit);
  }

  #openSessions(): Promise<GraphSessions> {
    return GraphSessions.open(this.#varve, this.#agent, this.#who);
  }

  async #listSessions(prefix: readonly string[]): Promise<{ session: Session; names: string[] }[]> {
    const found: { session: Session; names: string[] }[] = [];
    for await (const one of (await this.#openSessions()).list(channel)) {
      if (prefix.every((name, index) => one.names[index] === name)) found.push(one);
    }
    return found;
  }

  async #listKeys(session: Session): Promise<string[]> {
    const names = await this.#varve.transcripts.states.list(session, itemPrefix);
    return names.map((name) => name.slice(itemPrefix.length));
  }

  async #readItems(
    session: Session,
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<{ item: Item; seq: number }[]> {
    const rows = await this.#varve.transcripts.states.read(
      session,
      keys.map((key) => itemPrefix + key),
    );
    const current = new Map(
      [...rows].flatMap(([name, value]) => {
        const row = readRow(value);
        return row ? [[row.seq, { ...row, key: name.slice(itemPrefix.length) }] as const] : [];
      }),
    );
    const seqs = [...current.values()].flatMap(({ seq, first }) => [seq, first]);
    const entries = await this.#varve.transcripts.entries(session, [...new Set(seqs)]);
    const times = new Map(entries.map((entry) => [entry.seq, entry.time]));
    return entries.flatMap((entry) => {
      const row = current.get(entry.seq);
      const data = entry.type === "custom" ? entry.data : entry.extra?.[field];
      if (!row || !isJsonObject(data) || !isJsonObject(data.value)) return [];
      const [createdAt, updatedAt] = [new Date(times.get(row.first) ?? entry.time), new Date(entry.time)];
      const item = { namespace: [...namespace], key: row.key, value: data.value, createdAt, updatedAt };
      return [{ item, seq: entry.seq }];
    });
  }

  /** The scores of the versions of items that match a query, by sequence number. */
  async #score(session: Session, query: string): Promise<Map<number, number>> {
    const { results } = await this.#varve.search.find(query, {
      session,
      agent: session.agent,
      kinds: ["message"],
      limit: resultsMax,
      minScore: 0,
      skipStages: ["recency", "length", "decay", "hardMinScore", "noise", "diversity"],
    });
    return new Map(results.flatMap(({ seq, score }) => (seq === undefined ? [] : [[seq, score] as const])));
  }
}

/** An item that is searched is a message whose text is what is searched; any other is state that no search sees. */
function toDraft(key: string, value: Record<string, unknown> | null, paths: readonly string[] | undefined): EntryDraft {
  const data = JSON.parse(JSON.stringify({ key, value })) as JsonObject;
  const text = value === null || paths === undefined ? "" : readItemText(data.value ?? null, paths);
  if (text === "") return { type: "custom", customType, data };
  return { type: "message", message: { role: "system", content: text }, extra: { [field]: data } };
}

function readRow(value: JsonValue | undefined): ItemRow | undefined {
  return isJsonObject(value) && typeof value.seq === "number" ? (value as unknown as ItemRow) : undefined;
}

function matchesPath({ matchType, path }: MatchCondition, names: readonly string[]): boolean {
  if (path.length > names.length) return false;
  const start = matchType === "prefix" ? 0 : names.length - path.length;
  return path.every((one, index) => one === "*" || one === names[start + index]);
}

function checkNamespace(namespace: readonly string[]): void {
  if (namespace.length > 0 && namespace.every((name) => typeof name === "string" && name !== "")) return;
  throw new VarveError("BAD_REQUEST", `The namespace ${JSON.stringify(namespace)} has no name, or an empty one.`, {
    remedy: 'Send a list of names, such as ["memories", "user-1"].',
  });
}
