import { type OpenOptions, openVarve, type Varve } from "../index.ts";

/** An open engine, or the options to open one, which the manager then closes itself. */
export type ManagerOptions = { varve: Varve } | Pick<OpenOptions, "home" | "database" | "config" | "models" | "clock">;

/** A manager's engine, opened on first use. */
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

  /** Closes the engine if it was opened here. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening !== undefined && !("varve" in this.#options)) await (await opening).close();
  }
}
