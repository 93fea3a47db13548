import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../domain/index.ts";
import { type Session, type Varve, VarveError } from "../../index.ts";
import { findSession } from "../find-session.ts";

/** The metadata of a session that belong to LangGraph. */
const field = "langgraph";
const pageSize = 500;
const plainName = /^[a-z0-9._@+-]{1,100}$/;
const shownLength = 60;
const hashLength = 16;

/** The sessions of threads, sub-graphs and stores: each is found by what LangGraph calls it. */
export class GraphSessions {
  readonly #varve: Varve;
  readonly #agent: string;

  constructor(varve: Varve, agent: string | undefined) {
    this.#varve = varve;
    this.#agent = agent ?? varve.settings.config.agent;
  }

  /** The session of a thread, or of a sub-graph in it; undefined when nothing was stored there. */
  find(channel: string, names: readonly string[]): Promise<Session | undefined> {
    return findSession(this.#varve, this.#printKey(channel, names), this.#agent).then((session) =>
      session ? this.#check(session, names) : undefined,
    );
  }

  async open(channel: string, names: readonly string[]): Promise<Session> {
    const found = await this.find(channel, names);
    if (found) return found;
    const metadata: JsonObject = { [field]: { names: [...names] } };
    const address = { key: this.#printKey(channel, names), agent: this.#agent };
    const { session } = await this.#varve.sessions.open(address, { interaction: false, metadata });
    return this.#check(session, names);
  }

  /** All sessions of a channel, with their names. */
  async *list(channel: string): AsyncGenerator<{ session: Session; names: string[] }> {
    let after: string | undefined;
    do {
      const page = await this.#varve.sessions.list({ channel, agent: this.#agent, limit: pageSize, after });
      for (const session of page.sessions) {
        const names = readNames(session);
        if (names) yield { session, names };
      }
      after = page.next;
    } while (after !== undefined);
  }

  #printKey(channel: string, names: readonly string[]): string {
    return `agent:${this.#agent}:${channel}:direct:${names.map(toKeyPart).join("/") || "root"}`;
  }

  #check(session: Session, names: readonly string[]): Session {
    const known = readNames(session);
    if (known?.length === names.length && known.every((name, index) => name === names[index])) return session;
    throw new VarveError("REFUSED", `The session ${session.key} does not belong to ${JSON.stringify(names)}.`, {
      remedy: "Use another thread id or namespace, or another agent.",
    });
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
  const hash = createHash("sha256").update(name).digest("hex").slice(0, hashLength);
  return `${shown}.${hash}`;
}
