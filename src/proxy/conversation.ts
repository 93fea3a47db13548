import type { Belonging } from "../authorization/index.ts";
import {
  type EntryTrust,
  getParts,
  identifyBlocks,
  identifyParts,
  type JsonObject,
  type Message,
  recordedField,
  VarveError,
} from "../domain/index.ts";
import type { Session, Varve } from "../index.ts";
import { alignTranscript, type ComparedUnit, type Place } from "./alignment.ts";
import { findClientTranscript, findSession } from "./client-transcript.ts";
import { chainId, emptyHistory, estimateUnitTokens, type KnownHistory, type Link, parseEntryId } from "./history.ts";
import { readObject, readObjects } from "./json.ts";
import { addOwner, isOwner, mayRecord } from "./ownership.ts";
import type { ClientSession } from "./session-name.ts";
import type { Insertion, View } from "./view.ts";
import { createCachedEstimate } from "./window.ts";
import type { Format, Unit } from "./wire.ts";

/** The messages of one append, which holds the store's write lock. */
const batchMessages = 2_000;
const tailEntries = 200;
/** How many of the last entries tell whether others wrote to the transcript. */
const newestEntries = 50;
/** The metadata field with the key of the conversation that a session continues. */
const continuesField = "continues";

export interface ConversationOptions {
  agent: string | undefined;
  key: string | undefined;
  /** The key of a session of this client alone, for a key that others share; undefined when it is not shared. */
  exclusiveKey?: string;
  /** The client's own session, whose transcript may also be imported. */
  client: ClientSession | undefined;
  /** Whom a new session belongs to, where its key does not tell. */
  belongsTo: Belonging | undefined;
  /** Set when nobody vouches for what the client sends. */
  trust?: EntryTrust;
  /** Names a new session for people. */
  title(): string;
}

/** The messages of a request. */
export interface SentUnits {
  links: readonly Pick<Link, "id">[];
  units: readonly Unit[];
}

/** A conversation that passes through the proxy: its last known history, and the session that it is recorded in. */
export class Conversation {
  /** The history of the last request. */
  known: KnownHistory = emptyHistory;
  /** Replaces the older part in every request until the request no longer fits. */
  view: View | undefined;
  readonly insertions = new Map<string, Insertion>();
  readonly estimateFixed = createCachedEstimate();
  readonly #varve: Varve;
  readonly #options: ConversationOptions;
  #key: string | undefined;
  #session: Session | undefined;
  /** Ids that are known to be in the transcript. */
  #stored = new Set<string>();
  /** The entries of units that others stored, and what is stored of units that are incomplete. */
  #entryIds = new Map<string, string>();
  #partial: ReadonlyMap<string, { blocks: ReadonlySet<string>; entryId: string }> = new Map();
  #places: ReadonlyMap<string, Place> = new Map();
  /** The entries that were compared with requests or written by this object. */
  #seen = new Set<string>();
  /** The last message of the transcript's active branch. */
  #head: string | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #planning: Promise<unknown> = Promise.resolve();

  constructor(varve: Varve, options: ConversationOptions) {
    this.#varve = varve;
    this.#options = options;
    this.#key = options.key;
  }

  /** The key that identifies this conversation among those of all clients. */
  get key(): string | undefined {
    return this.#options.exclusiveKey ?? this.#key;
  }

  /** Sets the session key once it can be derived. */
  name(key: string): void {
    this.#key ??= key;
  }

  /** Makes another session key refer to this conversation, durably. */
  alias(key: string): Promise<void> {
    return this.#enqueueWrite(async () => {
      // The client's own session id leads to the conversation.
      if (this.#session && this.#session.sessionId === this.#options.client?.id) return;
      const continues = this.#session?.key ?? this.#key ?? "";
      await this.#varve.sessions.open(this.#address(key), {
        ...this.#opening(),
        metadata: { [continuesField]: continues },
      });
    });
  }

  /** Whether the client has a session with this conversation: a provider accepted its credential before. */
  async hasSession(): Promise<boolean> {
    if (this.#session) return true;
    const { agent, client, exclusiveKey } = this.#options;
    for (const key of [this.#key, exclusiveKey]) {
      const session = key === undefined ? undefined : await findSession(this.#varve, key, agent);
      if (session && (client === undefined || isOwner(client, session))) return true;
    }
    return false;
  }

  /** Writes the messages that the transcript does not have yet. Writes of one conversation run one after another. */
  sync(format: Format, links: readonly Link[], units: readonly Unit[]): Promise<Session> {
    return this.#enqueueWrite(async () => {
      const session = await this.#open(format, { links, units });
      // An id covers everything before it, so all messages after the last known one are new.
      const from = links.findLastIndex((link) => this.#stored.has(link.id)) + 1;
      if (from < links.length) await this.#append(session, format, { links, units }, from);
      return session;
    });
  }

  /** Makes the last message of a request the end of the active branch, so that compaction works on its history. */
  focus(links: readonly Link[]): Promise<void> {
    return this.#enqueue(async () => {
      const lastId = links.at(-1)?.id;
      const last = lastId === undefined ? undefined : this.#getEntryId(lastId);
      const session = this.#session;
      if (last === undefined || session === undefined || last === this.#head) return;
      await this.#varve.transcripts.moveHead(session, last);
      this.#head = last;
    });
  }

  /** Writes the messages that the transcript does not have yet together with their reply; returns the reply's id. */
  store(
    format: Format,
    { links, units }: SentUnits,
    unit: Unit,
    facts: Partial<Message>,
  ): Promise<{ id: string; session: Session }> {
    return this.#enqueueWrite(async () => {
      const id = chainId(links.at(-1)?.id ?? "", format.identity(unit));
      const sent = { links: [...links, { id }], units: [...units, unit] };
      const session = await this.#open(format, sent);
      const from = sent.links.findLastIndex((link) => this.#stored.has(link.id)) + 1;
      if (from < sent.links.length) await this.#append(session, format, sent, from, { id, facts });
      return { id, session };
    });
  }

  /** Finds an entry of the transcript in the history of the last request. */
  locate(entryId: string): Place {
    return this.#places.get(entryId) ?? parseEntryId(entryId);
  }

  /** Runs planning one at a time: of two concurrent requests, the second may reuse the first one's view. */
  plan<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#planning.then(work, work);
    this.#planning = run.catch(() => undefined);
    return run;
  }

  /** Discards the cached state after a failure: the session may have been deleted, or the batch may be written. */
  #enqueueWrite<T>(work: () => Promise<T>): Promise<T> {
    return this.#enqueue(async () => {
      try {
        return await work();
      } catch (error) {
        this.#session = undefined;
        this.#stored.clear();
        throw error;
      }
    });
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#queue.then(work, work);
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async #open(format: Format, sent: SentUnits): Promise<Session> {
    if (this.#session) return this.#options.client ? this.#readChanges(this.#session, format, sent) : this.#session;
    if (this.#key === undefined) throw new VarveError("INTERNAL", "The conversation has no session key yet.");
    const compared = createCompared(format, sent);
    const { client, agent, exclusiveKey } = this.#options;
    const keys = exclusiveKey === undefined ? [this.#key] : [this.#key, exclusiveKey];
    const joined = client && (await findClientTranscript(this.#varve, client, { keys, agent }, compared));
    const { session, created } = joined
      ? { session: joined, created: false }
      : await this.#openOwn(this.#key, client, compared);
    if (!created) {
      await this.#findStored(session, sent.links, format);
      if (client) await this.#align(session, compared);
    }
    this.#session = session;
    return session;
  }

  async #openOwn(
    key: string,
    client: ClientSession | undefined,
    compared: readonly ComparedUnit[],
  ): Promise<{ session: Session; created: boolean }> {
    const opened = await this.#openNamed(key, client, compared);
    const { exclusiveKey } = this.#options;
    if (opened.created || client === undefined || exclusiveKey === undefined) return opened;
    const { known } = await alignTranscript(this.#varve, opened.session, compared);
    if (!mayRecord(client, opened.session, known)) return this.#openNamed(exclusiveKey, client, compared);
    return { session: await addOwner(this.#varve, client, opened.session), created: false };
  }

  async #openNamed(
    key: string,
    client: ClientSession | undefined,
    compared: readonly ComparedUnit[],
  ): Promise<{ session: Session; created: boolean }> {
    const title = this.#options.title();
    const start = compared.flatMap(({ messages }) => messages.flatMap(identifyBlocks))[0];
    const opened = await this.#varve.sessions.open(this.#address(key), {
      ...this.#opening(),
      ...(title === "" ? {} : { displayName: title }),
      ...(client === undefined || start === undefined ? {} : { recorded: { sessionId: client.id, start } }),
      ...(client === undefined ? {} : { metadata: { [recordedField]: client.owner } }),
    });
    const continues = opened.session.metadata[continuesField];
    if (typeof continues !== "string" || continues === key) return opened;
    return this.#varve.sessions.open(this.#address(continues), this.#opening());
  }

  /** Compares the transcript with the request again when others wrote to it. */
  async #readChanges(session: Session, format: Format, sent: SentUnits): Promise<Session> {
    const { entries } = await this.#varve.transcripts.read(session, { limit: newestEntries });
    if (entries.every((entry) => entry.type !== "message" || this.#seen.has(entry.id))) return session;
    await this.#align(session, createCompared(format, sent));
    return session;
  }

  async #align(session: Session, compared: readonly ComparedUnit[]): Promise<void> {
    const { entryIds, partial, places, seen, head } = await alignTranscript(this.#varve, session, compared);
    for (const [id, entryId] of entryIds) {
      this.#stored.add(id);
      this.#entryIds.set(id, entryId);
    }
    this.#partial = partial;
    this.#places = places;
    this.#seen = seen;
    this.#head = head;
  }

  #getEntryId(id: string): string {
    return this.#entryIds.get(id) ?? id;
  }

  #address(key: string): { key: string; agent?: string } {
    const { agent } = this.#options;
    return { key, ...(agent === undefined ? {} : { agent }) };
  }

  #opening() {
    const { belongsTo } = this.#options;
    return { interaction: false, door: "proxy" as const, ...(belongsTo === undefined ? {} : { belongsTo }) };
  }

  /** Finds how much of a history is stored. An id covers everything before it, so a binary search finds the last one. */
  async #findStored(session: Session, links: SentUnits["links"], format: Format): Promise<void> {
    const tail = await this.#varve.transcripts.read(session, { limit: tailEntries });
    this.#head = tail.entries.findLast((entry) => entry.type === "message")?.id ?? "";
    for (const entry of tail.entries) {
      const insertion = entry.type === "message" ? readInsertion(format, entry.message) : undefined;
      if (insertion) this.insertions.set(entry.id, insertion);
    }
    let [low, high] = [0, links.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (await this.#has(session, links[middle]?.id ?? "")) low = middle + 1;
      else high = middle;
    }
    for (const link of links.slice(0, low)) this.#stored.add(link.id);
  }

  async #has(session: Session, id: string): Promise<boolean> {
    try {
      await this.#varve.transcripts.entry(session, id);
      return true;
    } catch (error) {
      if (error instanceof VarveError && error.code === "ENTRY_NOT_FOUND") return false;
      throw error;
    }
  }

  async #append(
    session: Session,
    format: Format,
    { links, units }: SentUnits,
    from: number,
    reply?: { id: string; facts: Partial<Message> },
  ): Promise<void> {
    for (let start = from; start < links.length; start += batchMessages) {
      const batch = links.slice(start, start + batchMessages);
      const missing = batch.flatMap(({ id }, index) =>
        this.#createMissing(format, units[start + index] ?? { wires: [] }, id),
      );
      const messages = missing.map((message) => (message.id === reply?.id ? { ...message, ...reply?.facts } : message));
      const ids = batch.map(({ id }) => id);
      await this.#write(session, messages, links[start - 1]?.id ?? "", ids);
    }
  }

  /** Appends at the end when `parent` is the last message, since the engine may have added entries after it. */
  async #write(session: Session, messages: Message[], parent: string, ids: string[]): Promise<void> {
    const parentId = this.#partial.get(ids[0] ?? "")?.entryId ?? this.#getEntryId(parent);
    const continues = this.#head === undefined || this.#head === parentId;
    if (messages.length > 0)
      await this.#varve.context.ingest(session, messages, {
        ...(continues ? {} : { after: parentId === "" ? null : parentId }),
        ...(this.#options.trust === undefined ? {} : { trust: this.#options.trust }),
      });
    this.#head = ids.at(-1) ?? this.#head;
    for (const id of ids) this.#stored.add(id);
    for (const { id } of messages) if (id !== undefined) this.#seen.add(id);
  }

  /** Creates the messages of a unit without the parts that others stored. */
  #createMissing(format: Format, unit: Unit, id: string): Message[] {
    const messages = createMessages(format, unit, id);
    const blocks = this.#partial.get(id)?.blocks;
    if (blocks === undefined) return messages;
    return messages.map((message) => {
      const identities = identifyParts(message);
      const content = getParts(message).filter((_, index) => !blocks.has(identities[index] ?? ""));
      return { ...message, content };
    });
  }
}

function createCompared(format: Format, { links, units }: SentUnits): ComparedUnit[] {
  return links.map(({ id }, index) => ({ id, messages: format.messages(units[index] ?? { wires: [] }) }));
}

function createMessages(format: Format, unit: Unit, id: string): Message[] {
  const messages = format.messages(unit);
  return messages.map((message, index) => ({
    ...message,
    id: index === messages.length - 1 ? id : `${id}/${index}`,
  }));
}

/** Creates the fields that are stored with a reply in addition to its content. */
export function createReplyFields(
  provider: string,
  body: JsonObject,
  insertion: Insertion | undefined,
): Partial<Message> {
  const { model, usage, stop_reason } = body;
  const inner = insertion && {
    coveredId: insertion.coveredId,
    units: insertion.units.map(({ wires }) => wires),
    ...(insertion.pending === undefined ? {} : { pending: insertion.pending.wires }),
  };
  return {
    provider,
    ...(typeof model === "string" ? { model } : {}),
    ...(typeof usage === "object" && usage !== null && !Array.isArray(usage) ? { usage } : {}),
    ...(typeof stop_reason === "string" ? { stopReason: stop_reason } : {}),
    ...(inner === undefined ? {} : { meta: { recalled: inner } }),
  };
}

/** Reads the recall calls that were stored with a reply. */
function readInsertion(format: Format, { meta }: Message): Insertion | undefined {
  const { coveredId, units, pending } = readObject(meta?.recalled);
  if (typeof coveredId !== "string" || !Array.isArray(units)) return undefined;
  const stored: Insertion = {
    coveredId,
    units: units.map((wires) => ({ wires: readObjects(wires) })),
    ...(pending === undefined ? {} : { pending: { wires: readObjects(pending) } }),
    tokens: 0,
  };
  const all = stored.pending === undefined ? stored.units : [...stored.units, stored.pending];
  return { ...stored, tokens: all.reduce((sum, unit) => sum + estimateUnitTokens(format, unit), 0) };
}
