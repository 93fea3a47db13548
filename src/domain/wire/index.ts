import type { JsonObject } from "../json.ts";
import type { Message, WireFormat } from "../message.ts";
import { fromAiSdk, toAiSdk } from "./ai-sdk.ts";
import { fromAnthropic, toAnthropic } from "./anthropic.ts";
import { fromGoogle, toGoogle } from "./google.ts";
import { fromOpenaiChat, toOpenaiChat } from "./openai-chat.ts";
import { fromOpenaiResponses, toOpenaiResponses } from "./openai-responses.ts";
import { fromPi, toPi } from "./pi.ts";

/**
 * The codec of one provider's messages. `to(from(m))` is `[m]` for every object that resembles one of its messages.
 * `to` converts a message of another format into as many messages as needed, possibly none.
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
  "ai-sdk": { from: fromAiSdk, to: toAiSdk },
};

export { isHosted } from "./blocks.ts";
export { canVerifySignatures } from "./envelope.ts";
export { toPlainText } from "./fields.ts";
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
