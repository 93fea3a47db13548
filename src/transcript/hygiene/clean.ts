import { createHash } from "node:crypto";
import type { Message } from "../../domain/index.ts";
import { cleanForAnthropic } from "./anthropic.ts";
import { dropEmptyBlocks } from "./blocks.ts";
import { renameCalls } from "./call-ids.ts";
import type { HygieneChange, HygieneProvider, RecordChange } from "./changes.ts";
import { cleanForGoogle } from "./google.ts";
import { cleanForCompatible, cleanForOpenai } from "./openai.ts";
import { pairResults } from "./pairing.ts";

export interface CleanOptions {
  /** The time of the last compaction, in milliseconds since 1970; reasoning of earlier messages is not sent. */
  compactedBefore?: number;
}

export interface CleanedMessages {
  messages: Message[];
  /** All changes in order; empty when the conversation was clean. */
  changes: HygieneChange[];
}

/**
 * Converts a conversation to what a provider accepts. The input is not modified. Idempotent: a clean conversation is
 * returned unchanged.
 */
export function cleanForProvider(
  messages: readonly Message[],
  provider: HygieneProvider,
  options: CleanOptions = {},
): CleanedMessages {
  const changes: HygieneChange[] = [];
  const record: RecordChange = (rule, message, detail) => {
    changes.push(message?.id === undefined ? { rule, detail } : { rule, messageId: message.id, detail });
  };
  const paired = pairResults(dropEmptyBlocks(messages, provider, record), record);
  return { messages: applyProviderRules(paired, provider, options, record), changes };
}

function applyProviderRules(
  messages: Message[],
  provider: HygieneProvider,
  options: CleanOptions,
  record: RecordChange,
): Message[] {
  switch (provider) {
    case "anthropic":
      return cleanForAnthropic(messages, options.compactedBefore, record);
    case "google":
      return cleanForGoogle(messages, record);
    case "mistral":
      return cleanForMistral(messages, record);
    case "openai":
      return cleanForOpenai(messages, record);
    case "openai-compatible":
      return cleanForCompatible(messages, record);
  }
}

/** Mistral's ids have exactly nine letters and digits. */
function cleanForMistral(messages: readonly Message[], record: RecordChange): Message[] {
  return renameCalls(messages, toMistralId, record);
}

function toMistralId(id: string, _name: string, attempt: number): string {
  if (attempt === 0 && /^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(`${attempt}:${id}`).digest("hex").slice(0, 9);
}
