import { type OpenOptions, openVarve, type Varve } from "../engine.ts";

/** Which memory a manager works on: one that is open, or one that it opens itself and closes again. */
export type ManagerOptions = { varve: Varve } | Pick<OpenOptions, "home" | "database" | "config" | "models" | "clock">;

/** The engine behind a manager, opened when it is first needed. */
export class SharedEngine {
  readonly #options: ManagerOptions;
  #opening: Promise<Varve> | undefined;

  constructor(options: ManagerOptions) {
    this.#options = options;
  }

  open(): Promise<Varve> {
    const options = this.#options;
    this.#opening ??= "varve" in options ? Promise.resolve(options.varve) : openVarve(options);
    return this.#opening;
  }

  /** Closes what was opened here; an engine that was lent stays open. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening !== undefined && !("varve" in this.#options)) await (await opening).close();
  }
}
