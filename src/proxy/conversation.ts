import { type JsonObject, type Message, VarveError } from "../domain/index.ts";
import type { Session, Varve } from "../engine.ts";
import { idAfter, type KnownHistory, type Link, nothingKnown, tokensOfUnit } from "./history.ts";
import { objectOf, objectsOf } from "./json.ts";
import type { Insertion, View } from "./view.ts";
import { rememberedEstimate } from "./window.ts";
import type { Format, Unit } from "./wire.ts";

/** How many messages are written at once: an append holds the store's lock. */
const batchMessages = 2_000;
const tailEntries = 200;
/** Names the conversation that a session's own is the continuation of. */
const continuesKey = "continues";

/** A conversation that passes through: what was seen of it last, and its place in the log. */
export class Conversation {
  /** The history of the last request. */
  known: KnownHistory = nothingKnown;
  /** What stands for the older part in every request until it does not fit any more. */
  view: View | undefined;
  readonly insertions = new Map<string, Insertion>();
  readonly estimateFixed = rememberedEstimate();
  readonly #varve: Varve;
  readonly #agent: string | undefined;
  readonly #title: () => string;
  #key: string | undefined;
  #session: Session | undefined;
  /** Ids of which it is known that the log has them. */
  #stored = new Set<string>();
  /** The last message of the log's active branch. */
  #head: string | undefined;
  #lane: Promise<unknown> = Promise.resolve();
  #planning: Promise<unknown> = Promise.resolve();

  /** `title` is what people see of a conversation that is new. */
  constructor(varve: Varve, agent: string | undefined, key: string | undefined, title: () => string) {
    this.#varve = varve;
    this.#agent = agent;
    this.#key = key;
    this.#title = title;
  }

  get key(): string | undefined {
    return this.#key;
  }

  /** Gives a conversation its name once it can be told. */
  name(key: string): void {
    this.#key ??= key;
  }

  /** Lets another name lead to this conversation, also after a restart. */
  alias(key: string): Promise<void> {
    return this.#writing(async () => {
      const { session, created } = await this.#varve.sessions.open(this.#address(key), { interaction: false });
      if (created) await this.#varve.sessions.update(session, { metadata: { [continuesKey]: this.#key ?? "" } });
    });
  }

  /** Writes what the log does not have yet. Nothing runs at the same time for one conversation. */
  sync(format: Format, links: readonly Link[], units: readonly Unit[]): Promise<Session> {
    return this.#writing(async () => {
      const session = await this.#open(format, links);
      // An id stands for all that is before it, so what is behind the last known one is new.
      const from = links.findLastIndex((link) => this.#stored.has(link.id)) + 1;
      if (from < links.length) await this.#append(session, format, links, units, from);
      return session;
    });
  }

  /** Makes the last message of a request the end of the active branch, so that what is compacted is its history. */
  focus(links: readonly Link[]): Promise<void> {
    return this.#inLane(async () => {
      const last = links.at(-1)?.id;
      const session = this.#session;
      if (last === undefined || session === undefined || last === this.#head) return;
      await this.#varve.transcripts.moveHead(session, last);
      this.#head = last;
    });
  }

  /** Writes a reply behind the request it answers. */
  store(format: Format, links: readonly Link[], unit: Unit, facts: Partial<Message>): Promise<string> {
    return this.#writing(async () => {
      const session = await this.#open(format, links);
      const previous = links.at(-1)?.id ?? "";
      const id = idAfter(previous, format.identity(unit));
      if (!this.#stored.has(id)) {
        const messages = messagesWithIds(format, unit, id);
        const last = messages.pop();
        if (last) await this.#write(session, [...messages, { ...last, ...facts }], previous, [id]);
      }
      return id;
    });
  }

  /** Makes views one after the other: of two requests at once, the second may find that the first did its work. */
  plan<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#planning.then(work, work);
    this.#planning = run.catch(() => undefined);
    return run;
  }

  /** After a failure nothing is taken for granted: the session may have been deleted, the batch may be written. */
  #writing<T>(work: () => Promise<T>): Promise<T> {
    return this.#inLane(async () => {
      try {
        return await work();
      } catch (error) {
        this.#session = undefined;
        this.#stored.clear();
        throw error;
      }
    });
  }

  #inLane<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#lane.then(work, work);
    this.#lane = run.catch(() => undefined);
    return run;
  }

  async #open(format: Format, links: readonly Link[]): Promise<Session> {
    if (this.#session) return this.#session;
    if (this.#key === undefined) throw new VarveError("INTERNAL", "The conversation has no name yet.");
    const title = this.#title();
    const options = { interaction: false, ...(title === "" ? {} : { displayName: title }) };
    let { session, created } = await this.#varve.sessions.open(this.#address(this.#key), options);
    const continues = session.metadata[continuesKey];
    if (typeof continues === "string" && continues !== this.#key) {
      ({ session, created } = await this.#varve.sessions.open(this.#address(continues), { interaction: false }));
    }
    if (!created) await this.#lookUp(session, links, format);
    this.#session = session;
    return session;
  }

  #address(key: string): { key: string; agent?: string } {
    return { key, ...(this.#agent === undefined ? {} : { agent: this.#agent }) };
  }

  /** How much of a history the log has. An id holds everything before it, so the last known one is found by halving. */
  async #lookUp(session: Session, links: readonly Link[], format: Format): Promise<void> {
    const tail = await this.#varve.transcripts.read(session, { limit: tailEntries });
    this.#head = tail.entries.findLast((entry) => entry.type === "message")?.id ?? "";
    for (const entry of tail.entries) {
      const insertion = entry.type === "message" ? insertionIn(format, entry.message) : undefined;
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
    links: readonly Link[],
    units: readonly Unit[],
    from: number,
  ): Promise<void> {
    for (let start = from; start < links.length; start += batchMessages) {
      const batch = links.slice(start, start + batchMessages);
      const messages = batch.flatMap(({ id }, index) =>
        messagesWithIds(format, units[start + index] ?? { wires: [] }, id),
      );
      const ids = batch.map(({ id }) => id);
      await this.#write(session, messages, links[start - 1]?.id ?? "", ids);
    }
  }

  /** The log itself may have put something behind the last message, such as the note of a compaction: it goes on there. */
  async #write(session: Session, messages: Message[], parent: string, ids: string[]): Promise<void> {
    const continues = this.#head === undefined || this.#head === parent;
    await this.#varve.context.ingest(session, messages, continues ? {} : { after: parent === "" ? null : parent });
    this.#head = ids.at(-1) ?? this.#head;
    for (const id of ids) this.#stored.add(id);
  }
}

function messagesWithIds(format: Format, unit: Unit, id: string): Message[] {
  const messages = format.messages(unit);
  return messages.map((message, index) => ({
    ...message,
    id: index === messages.length - 1 ? id : `${id}/${index}`,
  }));
}

/** What is kept with a reply beside its words. */
export function replyFacts(provider: string, body: JsonObject, insertion: Insertion | undefined): Partial<Message> {
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

/** What went on inside of a reply, as it was kept with it. */
function insertionIn(format: Format, { meta }: Message): Insertion | undefined {
  const { coveredId, units, pending } = objectOf(meta?.recalled);
  if (typeof coveredId !== "string" || !Array.isArray(units)) return undefined;
  const kept: Insertion = {
    coveredId,
    units: units.map((wires) => ({ wires: objectsOf(wires) })),
    ...(pending === undefined ? {} : { pending: { wires: objectsOf(pending) } }),
    tokens: 0,
  };
  const all = kept.pending === undefined ? kept.units : [...kept.units, kept.pending];
  return { ...kept, tokens: all.reduce((sum, unit) => sum + tokensOfUnit(format, unit), 0) };
}
