export type { HygieneChange, HygieneProvider, HygieneRule } from "./changes.ts";
export { type Cleaned, type CleanOptions, cleanForProvider } from "./clean.ts";
export { isSilentReply, type SilentReplyGate, silentReplyGate } from "./silent-reply.ts";
