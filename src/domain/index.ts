export { type Clock, type Random, systemClock, systemRandom } from "./clock.ts";
export type { EngineEvent } from "./engine-event.ts";
export { type Entry, type EntryBody, type EntryDraft, type EntryType, entryTypes, type ResetKind } from "./entry.ts";
export {
  type ErrorCode,
  type ErrorKind,
  errorCodes,
  errorKinds,
  toVarveError,
  VarveError,
  type VarveErrorOptions,
} from "./errors.ts";
export { newId, newUuid } from "./ids.ts";
export { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from "./json.ts";
export { getParts, getToolCalls, getToolResults, type Message, type Role, roles } from "./message.ts";
export { matchesPattern } from "./name-pattern.ts";
export type * from "./part.ts";
export { redactSecrets } from "./redact.ts";
export {
  type ChatType,
  getChannel,
  getChatType,
  getResetType,
  keyLengthMax,
  parseSessionKey,
  printSessionKey,
  type ResetType,
  type RoomType,
  type SessionKey,
  type ThreadRef,
} from "./session-key.ts";
export { isStopWord } from "./stop-words.ts";
export type { EscalationLevel, SummaryNode } from "./summary.ts";
export { WakeSignal } from "./wake-signal.ts";
export { dayIn, wallClock } from "./wall-clock.ts";
export {
  fromAnthropic,
  fromGoogle,
  fromOpenaiChat,
  fromOpenaiResponses,
  fromPi,
  isHosted,
  toAnthropic,
  toGoogle,
  toOpenaiChat,
  toOpenaiResponses,
  toPi,
  trustsSignatures,
  type WireCodec,
  wireFormats,
} from "./wire/index.ts";
