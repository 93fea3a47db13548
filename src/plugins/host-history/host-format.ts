import type { JsonValue, Message } from "../../domain/index.ts";

/** The messages of a host that keeps a conversation itself and sends all of it with each request. */
export interface HostFormat<T> {
  /**
   * The identity of a message by its content: equal for a reply as the host receives it and as it sends it back. Content
   * that hosts leave out later, such as reasoning, is not part of it.
   */
  identify(message: T): JsonValue;
  read(message: T): Message;
  /** Writes a message in as many messages of the host as it takes, possibly none. */
  write(message: Message): T[];
  isRequest(message: T): boolean;
}
