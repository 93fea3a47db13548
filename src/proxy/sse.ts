/** One event of a stream of server-sent events. */
export interface SseEvent {
  event?: string;
  data: string;
}

/** Above this an event that does not end is no event: its stream is not read any further. */
const eventCharactersMax = 16 * 1024 * 1024;

/** Reads events out of bytes that come in any portions. */
export function sseParser(): { push(chunk: Uint8Array): SseEvent[]; rest(): SseEvent[] } {
  const decoder = new TextDecoder();
  let pending = "";
  const take = (): SseEvent[] => {
    const events: SseEvent[] = [];
    for (;;) {
      const end = /\r?\n\r?\n/.exec(pending);
      if (end === null) break;
      const block = pending.slice(0, end.index);
      pending = pending.slice(end.index + end[0].length);
      const event = parseEvent(block);
      if (event !== undefined) events.push(event);
    }
    if (pending.length > eventCharactersMax) pending = "";
    return events;
  };
  return {
    push(chunk) {
      pending += decoder.decode(chunk, { stream: true });
      return take();
    },
    rest() {
      pending += `${decoder.decode()}\n\n`;
      return take();
    },
  };
}

function parseEvent(block: string): SseEvent | undefined {
  let event: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") event = value;
    else if (name === "data") data.push(value);
  }
  if (data.length === 0) return undefined;
  return { ...(event === undefined ? {} : { event }), data: data.join("\n") };
}

export function writeEvent({ event, data }: SseEvent): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${data}\n\n`;
}
