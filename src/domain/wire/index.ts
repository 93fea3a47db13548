import type { JsonObject } from "../json.ts";
import type { Message } from "../message.ts";
import type { WireFormat } from "../part.ts";
import { fromAnthropic, toAnthropic } from "./anthropic.ts";
import { fromGoogle, toGoogle } from "./google.ts";
import { fromOpenaiChat, toOpenaiChat } from "./openai-chat.ts";
import { fromOpenaiResponses, toOpenaiResponses } from "./openai-responses.ts";
import { fromPi, toPi } from "./pi.ts";

/**
 * One provider's messages. `to(from(m))` is `[m]`, for every object that looks like one of its messages. `to` turns a
 * message of another format into as many as the format needs, which may be none when nothing of it has a place there.
 */
export interface WireCodec {
  from(wire: unknown): Message;
  to(message: Message): JsonObject[];
}

export const wireFormats: Readonly<Record<WireFormat, WireCodec>> = {
  anthropic: { from: fromAnthropic, to: toAnthropic },
  "openai-chat": { from: fromOpenaiChat, to: toOpenaiChat },
  "openai-responses": { from: fromOpenaiResponses, to: toOpenaiResponses },
  google: { from: fromGoogle, to: toGoogle },
  pi: { from: fromPi, to: toPi },
};

export { trustsSignatures } from "./envelope.ts";
export { isHosted } from "./exact.ts";
export {
  fromAnthropic,
  fromGoogle,
  fromOpenaiChat,
  fromOpenaiResponses,
  fromPi,
  toAnthropic,
  toGoogle,
  toOpenaiChat,
  toOpenaiResponses,
  toPi,
};
