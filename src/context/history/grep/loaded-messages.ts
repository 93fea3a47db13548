import { type LoadedMessage, MessageLoader } from "../../../transcript/index.ts";
import type { Find } from "./find-places.ts";
import { snippetAround } from "./grep-types.ts";
import type { EntrySource, LoadReport, MessageMatch } from "./match-protocol.ts";

/** The messages that a matching thread has loaded from the file of the store, until the next ones are loaded. */
export class LoadedMessages {
  readonly #loader: MessageLoader;
  #messages: LoadedMessage[] = [];

  static async open({ address, agent }: EntrySource): Promise<LoadedMessages> {
    return new LoadedMessages(await MessageLoader.open(address, agent));
  }

  private constructor(loader: MessageLoader) {
    this.#loader = loader;
  }

  load(seqs: readonly number[], charactersMax: number): LoadReport {
    // Without the previous ones, so that both are never in memory.
    this.#messages = [];
    const { read, messages } = this.#loader.load(seqs, charactersMax);
    this.#messages = messages;
    const unread = messages.flatMap(({ seq, text }, index) => (text === undefined ? [{ index, seq }] : []));
    return { read, count: messages.length, unread };
  }

  /** The first `max` that match, in their order. */
  find(find: Find, max: number): MessageMatch[] {
    const matches: MessageMatch[] = [];
    for (const [index, { text, ...message }] of this.#messages.entries()) {
      if (matches.length >= max) break;
      const place = text === undefined ? undefined : find(text);
      if (text === undefined || place === undefined) continue;
      matches.push({ index, ...message, snippet: snippetAround(text, place.from, place.to) });
    }
    return matches;
  }

  close(): void {
    this.#messages = [];
    this.#loader.close();
  }
}
