import { createParser } from "eventsource-parser";

/** A server-sent event. */
export interface SseEvent {
  event?: string;
  data: string;
}

/** A longer event is dropped, so that a stream without event ends uses bounded memory. */
const eventCharactersMax = 16 * 1024 * 1024;

export interface SseParser {
  /** Returns the events that a chunk completes; chunks may split events anywhere. */
  push(chunk: Uint8Array): SseEvent[];
  /** Returns the last event of a stream that ends without a blank line. */
  finish(): SseEvent[];
}

export function createSseParser(): SseParser {
  const decoder = new TextDecoder();
  let events: SseEvent[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: eventCharactersMax,
    onEvent: ({ event, data }) => {
      events.push({ ...(event === undefined ? {} : { event }), data });
    },
    onError: ({ type }) => {
      isTooLong = type === "max-buffer-size-exceeded";
    },
  });
  const feed = (text: string): SseEvent[] => {
    parser.feed(text);
    if (isTooLong) {
      isTooLong = false;
      parser.reset();
    }
    const parsed = events;
    events = [];
    return parsed;
  };
  return {
    push: (chunk) => feed(decoder.decode(chunk, { stream: true })),
    finish: () => feed(`${decoder.decode()}\n\n`),
  };
}

export function printSseEvent({ event, data }: SseEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`;
}
