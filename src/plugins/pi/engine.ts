import { type OpenOptions, openVarve, type Session, type Varve, VarveError } from "../../index.ts";
import { findSession } from "../find-session.ts";
import type { PiContext } from "./pi-types.ts";

/** The engine of an extension: opened when it is first needed, closed with the session. */
export class ExtensionEngine {
  readonly #options: OpenOptions;
  #opening: Promise<Varve> | undefined;
  /** Imports of one file run one after another. */
  #importing: Promise<unknown> = Promise.resolve();

  constructor(options: OpenOptions) {
    this.#options = options;
  }

  open(): Promise<Varve> {
    this.#opening ??= openVarve(this.#options).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Stores what the session file has that is new, and returns its session; undefined while there is no file. */
  async record({ sessionManager }: PiContext): Promise<{ varve: Varve; session: Session } | undefined> {
    const varve = await this.open();
    const file = sessionManager.getSessionFile();
    if (file !== undefined) {
      const run = this.#importing.then(() => varve.import([file], { source: "pi" }));
      this.#importing = run.catch(() => undefined);
      const report = await ignoreMissing(run);
      if (report === undefined) return undefined;
    }
    const session = await findSession(varve, sessionManager.getSessionId());
    return session && { varve, session };
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    await this.#importing;
    await (await opening)?.close();
  }
}

/** pi writes the file of a new session with the first reply. */
async function ignoreMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof VarveError && error.kind === "not_found") return undefined;
    throw error;
  }
}
