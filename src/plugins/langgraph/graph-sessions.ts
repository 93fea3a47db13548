import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../domain/index.ts";
import { type Session, type Varve, VarveError } from "../../index.ts";
import { findSession } from "../find-session.ts";
import { belongLike, isOpen, resolveSpeaker, type Speaker, type SpeakerOptions } from "../speaker.ts";

/** The metadata of a session that belong to LangGraph. */
const field = "langgraph";
const pageSize = 500;
const plainName = /^[a-z0-9._@+-]{1,100}$/;
const shownLength = 60;
const hashLength = 16;

/**
 * The sessions of threads, sub-graphs and stores that belong to one speaker: each is found by what LangGraph calls it.
 * Those of other people are as if they did not exist.
 */
export class GraphSessions {
  readonly #varve: Varve;
  readonly #agent: string;
  readonly #speaker: Speaker;

  constructor(varve: Varve, agent: string, speaker: Speaker) {
    this.#varve = varve;
    this.#agent = agent;
    this.#speaker = speaker;
  }

  static async open(varve: Varve, agent: string | undefined, who: SpeakerOptions): Promise<GraphSessions> {
    const name = agent ?? varve.settings.config.agent;
    return new GraphSessions(varve, name, await resolveSpeaker(varve, name, who));
  }

  /** The session of a thread, or of a sub-graph in it; undefined when nothing was stored there. */
  async find(channel: string, names: readonly string[]): Promise<Session | undefined> {
    for (const key of this.#listKeys(channel, names)) {
      const session = await findSession(this.#varve, key, this.#agent);
      if (session && this.#check(session, names)) return session;
    }
    return undefined;
  }

  /** Like `find`; a new session belongs to the speaker, and one of a sub-graph to whom its thread belongs. */
  async open(channel: string, names: readonly string[], thread?: Session): Promise<Session> {
    const found = await this.find(channel, names);
    if (found) return found;
    const metadata: JsonObject = { [field]: { names: [...names] } };
    const belongsTo = thread ? belongLike(thread) : this.#speaker.belongsTo;
    for (const key of this.#listKeys(channel, names)) {
      const address = { key, agent: this.#agent };
      const { session } = await this.#varve.sessions.open(address, { interaction: false, metadata, belongsTo });
      if (this.#check(session, names)) return session;
    }
    throw new VarveError("REFUSED", `The session of ${JSON.stringify(names)} belongs to somebody else.`, {
      remedy: "Use another thread id or namespace.",
    });
  }

  /** All sessions of a channel that are the speaker's, with their names. */
  async *list(channel: string): AsyncGenerator<{ session: Session; names: string[] }> {
    let after: string | undefined;
    do {
      const page = await this.#varve.sessions.list({ channel, agent: this.#agent, limit: pageSize, after });
      for (const session of page.sessions) {
        const names = readNames(session);
        if (names && this.#speaker.judge(session) === "own") yield { session, names };
      }
      after = page.next;
    } while (after !== undefined);
  }

  /** The key of a name, and those of the speaker where another person's thread or namespace has the same name. */
  #listKeys(channel: string, names: readonly string[]): string[] {
    const key = `agent:${this.#agent}:${channel}:direct:${names.map(toKeyPart).join("/") || "root"}`;
    return [key, ...this.#speaker.marks.map((mark) => `${key}~${hashText(mark)}`)];
  }

  /** Whether a session is the speaker's. */
  #check(session: Session, names: readonly string[]): boolean {
    const known = readNames(session);
    if (known?.length !== names.length || !known.every((name, index) => name === names[index])) {
      throw new VarveError("REFUSED", `The session ${session.key} does not belong to ${JSON.stringify(names)}.`, {
        remedy: "Use another thread id or namespace, or another agent.",
      });
    }
    return isOpen(this.#speaker, session);
  }
}

function readNames(session: Session): string[] | undefined {
  const own = session.metadata[field];
  const names = isJsonObject(own) ? own.names : undefined;
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : undefined;
}

/** Keys have no spaces, and capital letters do not count in them: names with either get a hash. */
function toKeyPart(name: string): string {
  if (plainName.test(name)) return name;
  const shown = name
    .toLowerCase()
    .replace(/[^a-z0-9._@+-]+/g, "-")
    .slice(0, shownLength);
  return `${shown}.${hashText(name)}`;
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, hashLength);
}
