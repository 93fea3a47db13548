export {
  type Clock,
  findLastHour,
  formatDay,
  formatStamp,
  parseLocalTime,
  type Random,
  systemClock,
  systemRandom,
  toInstant,
  toWallClock,
} from "./clock.ts";
export { durationForm, parseDuration } from "./duration.ts";
export type { EngineEvent } from "./engine-event.ts";
export {
  type Entry,
  type EntryBody,
  type EntryDraft,
  type EntryTrust,
  type EntryType,
  entryTypes,
  type ResetKind,
} from "./entry.ts";
export {
  type ErrorCode,
  type ErrorKind,
  errorCodes,
  errorKinds,
  toVarveError,
  VarveError,
  type VarveErrorOptions,
} from "./errors.ts";
export { FairQueue } from "./fair-queue.ts";
export { dropSecrets, findSecrets } from "./find-secrets.ts";
export { callWithin, type HookCall, HookList, systemWait, type Wait } from "./hooks.ts";
export { newId, newUuid } from "./ids.ts";
export { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from "./json.ts";
export { findShapeFault, JsonShapeCheck, jsonShapeLimits } from "./json-shape.ts";
export { escapeNamesake, escapeSegment, foldCase, foldId, readSegment } from "./key-segments.ts";
export type * from "./message.ts";
export { getParts, getToolCalls, getToolResults, roles } from "./message.ts";
export { BlockAligner, identifyBlocks, identifyParts, identifyText, recordedField } from "./message-blocks.ts";
export { matchesPattern } from "./name-pattern.ts";
export { escapeJson, escapeTags, neutralise, neutraliseName, showControls } from "./neutralise.ts";
export { getOwn } from "./own-property.ts";
export { redactSecrets } from "./redact.ts";
export { redactMessage } from "./redact-message.ts";
export {
  type ChatType,
  getChannel,
  getChatType,
  getResetType,
  keyLengthMax,
  lowerCaseKey,
  parseKeySpellings,
  parseSessionKey,
  printSessionKey,
  printStoredKey,
  type ResetType,
  type RoomType,
  type SessionKey,
  type ThreadRef,
} from "./session-key.ts";
export { isStopWord } from "./stop-words.ts";
export type { EscalationLevel, SummaryNode } from "./summary.ts";
export { WakeSignal } from "./wake-signal.ts";
export {
  canVerifySignatures,
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
  toPlainText,
  type WireCodec,
  wireFormats,
} from "./wire/index.ts";
