import { type OpenOptions, openVarve, type TurnEvent, type TurnResult, type Varve } from "../index.ts";

export interface AutoResponderSettings {
  /** Whether messages are answered; if false, they are only stored. */
  enabled?: boolean;
  maxConcurrent?: number;
  debounceMs?: number;
  maxHistoryMessages?: number;
  sessionMaxAgeMs?: number;
  memoryIndexIntervalMessages?: number;
  memorySearchMaxResults?: number;
}

export interface IncomingMessage {
  channel: string;
  userId: string;
  text: string;
  /** The channel's id of the message, used as idempotency key: a message that is sent twice is answered once. */
  id?: string;
  name?: string;
}

export const autoResponderDefaults: Readonly<Required<AutoResponderSettings>> = {
  enabled: true,
  maxConcurrent: 3,
  debounceMs: 1_500,
  maxHistoryMessages: 20,
  sessionMaxAgeMs: 4 * 3_600_000,
  memoryIndexIntervalMessages: 5,
  memorySearchMaxResults: 5,
};

const msPerMinute = 60_000;

/**
 * Answers messages: one turn at a time per user, `maxConcurrent` turns at once, each message once.
 *
 * @example
 * const responder = new AutoResponder({ home: "./memory" }, { debounceMs: 0 });
 * console.log(await responder.respond({ channel: "telegram", userId: "5054873275", text: "When is my flight?" }));
 * await responder.close();
 */
export class AutoResponder {
  readonly settings: Readonly<Required<AutoResponderSettings>>;
  readonly #options: Pick<OpenOptions, "home" | "database" | "config" | "models" | "clock">;
  #opening: Promise<Varve> | undefined;

  constructor(
    options: Pick<OpenOptions, "home" | "database" | "config" | "models" | "clock"> | string = {},
    settings: AutoResponderSettings = {},
  ) {
    this.#options = typeof options === "string" ? { home: options } : options;
    this.settings = { ...autoResponderDefaults, ...settings };
  }

  /** Returns the reply to a message; undefined when there is none. */
  async respond(message: IncomingMessage, onEvent?: (event: TurnEvent) => void): Promise<string | undefined> {
    const { reply } = await this.handle(message, onEvent);
    return reply === "" ? undefined : reply;
  }

  /** Like `respond`, but returns the whole result of the turn. */
  async handle(message: IncomingMessage, onEvent?: (event: TurnEvent) => void): Promise<TurnResult> {
    const varve = await this.#open();
    const { channel, userId, text, id, name } = message;
    const from = { id: userId, ...(name === undefined ? {} : { name }) };
    const chat = { type: "direct" as const, id: userId };
    return varve.turns.send({ channel, from, chat, text, ...(id === undefined ? {} : { id }) }, { onEvent });
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening !== undefined) await (await opening).close();
  }

  #open(): Promise<Varve> {
    const { config = {} } = this.#options;
    const { settings } = this;
    this.#opening ??= openVarve({
      ...this.#options,
      config: {
        ...config,
        session: {
          dmScope: "per-channel-peer",
          reset: { mode: "idle", idleMinutes: Math.max(1, Math.round(settings.sessionMaxAgeMs / msPerMinute)) },
          ...config.session,
        },
        sendPolicy: settings.enabled ? config.sendPolicy : { ...config.sendPolicy, default: "deny" },
        turn: {
          maxConcurrent: settings.maxConcurrent,
          debounceMs: settings.debounceMs,
          historyLimit: settings.maxHistoryMessages,
          ...config.turn,
        },
        memory: {
          extractEveryMessages: settings.memoryIndexIntervalMessages,
          recallMaxItems: settings.memorySearchMaxResults,
          ...config.memory,
        },
      },
    });
    return this.#opening;
  }
}
