import { type EntryFileAddress, type EntryReader, type FiledEntry, openEntryReader } from "../store/index.ts";
import { decodeWholeBody } from "./codec.ts";
import { getEntryText } from "./entry-text.ts";
import { messageKinds } from "./message-candidates.ts";
import type { ScannedMessage } from "./scan-messages.ts";

/** A message that was loaded, without a text where it has to be read through the store. */
export type LoadedMessage = Omit<ScannedMessage, "text"> & { text?: string };

export interface LoadedMessages {
  /** How many of the sequence numbers were read; the others did not fit. */
  read: number;
  messages: LoadedMessage[];
}

/** Rows read at once. Together with the size of a payload this limits the memory of a read to 32 MiB. */
const rowsAtOnce = 128;
const payloadBytesMax = 256 * 1024;

/**
 * Reads messages from the file of a store in the calling thread. Large messages, and those whose content was extracted
 * into files, are left to `scanMessages`.
 */
export class MessageLoader {
  readonly #reader: EntryReader;

  static async open(address: EntryFileAddress, agent: string): Promise<MessageLoader> {
    return new MessageLoader(await openEntryReader(address, { agent, kinds: messageKinds, payloadBytesMax }));
  }

  private constructor(reader: EntryReader) {
    this.#reader = reader;
  }

  /** The messages among some entries, in their order, up to about `charactersMax` characters of text. */
  load(seqs: readonly number[], charactersMax: number): LoadedMessages {
    const messages: LoadedMessage[] = [];
    let read = 0;
    for (let characters = 0; read < seqs.length && characters < charactersMax; read += rowsAtOnce) {
      for (const row of this.#reader.read(seqs.slice(read, read + rowsAtOnce))) {
        const message = decodeMessage(row);
        characters += message.text?.length ?? 0;
        messages.push(message);
      }
    }
    return { read: Math.min(read, seqs.length), messages };
  }

  close(): void {
    this.#reader.close();
  }
}

function decodeMessage([seq, conversation, time, kind, payload]: FiledEntry): LoadedMessage {
  const body = payload === null ? undefined : decodeWholeBody({ seq, kind, payload });
  return { seq, conversation, time, kind, text: body && getEntryText(body) };
}
