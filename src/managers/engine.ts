import { printSessionKey } from "../domain/index.ts";
import { type OpenOptions, openVarve, type Varve } from "../index.ts";

/** An open engine, or the options to open one, which the manager then closes itself. */
export type ManagerOptions = { varve: Varve } | Pick<OpenOptions, "home" | "database" | "config" | "models" | "clock">;

/** A folder stands for the options with that home. */
export function toManagerOptions<Options extends ManagerOptions>(given: string | Options): Options | { home: string } {
  return typeof given === "string" ? { home: given } : given;
}

/** The key of a user's conversation: every channel and user has its own here; `session.dmScope` is not used. */
export function createUserKey(varve: Varve, channel: string, userId: string): string {
  return printSessionKey({ kind: "direct", agent: varve.settings.config.agent, channel, peer: userId });
}

/** The name of a session for the engine: `{channel}:{userId}` is a user's conversation, everything else stays. */
export function resolveSessionName(varve: Varve, name: string): string {
  const [channel = "", ...rest] = name.split(":");
  const isPair = rest.length > 0 && channel.toLowerCase() !== "agent";
  return isPair ? createUserKey(varve, channel, rest.join(":")) : name;
}

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
