import { isJsonObject, type JsonObject, type Message } from "../../../domain/index.ts";
import type { ReaderContext, ReaderEvent, RecordReader, SourceFormat } from "../reader.ts";
import { BadRecordError, guardReader, type ParsedRecord, readId } from "../record.ts";
import { SessionTracker } from "../session-tracker.ts";

/** Messages of lossless-claw's database, as `LcmStore` gives them: in Varve's own format. */
export const losslessClaw: SourceFormat = {
  name: "lossless-claw",
  layout: "lines",
  detect: () => false,
  open: (context) => new LcmReader(context),
};

class LcmReader implements RecordReader {
  readonly read: (text: string) => ReaderEvent[];
  readonly #tracker: SessionTracker;

  constructor(context: ReaderContext) {
    this.#tracker = new SessionTracker(isJsonObject(context.state) ? context.state.sessions : undefined);
    this.read = guardReader((record) => this.#read(record));
  }

  state(): JsonObject {
    return { sessions: this.#tracker.state() };
  }

  #read({ value: { id, role, content, timestamp, sessionId } }: ParsedRecord): ReaderEvent[] {
    const own = readId(id, "id");
    const session = readId(sessionId, "sessionId");
    if (own === undefined || session === undefined) throw new BadRecordError("it has no id or no session id");
    const time = typeof timestamp === "number" ? timestamp : 0;
    const message = { role, content } as unknown as Message;
    const announced = this.#tracker.announce({ sessionId: session, channel: "lossless-claw", startedAt: time });
    return [...announced, this.#tracker.entry(session, { type: "message", message }, { id: own, time })];
  }
}
