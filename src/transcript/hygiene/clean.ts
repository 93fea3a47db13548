import type { Message } from "../../domain/index.ts";
import { cleanForAnthropic } from "./anthropic.ts";
import { dropEmptyBlocks } from "./blocks.ts";
import type { HygieneChange, HygieneProvider, Note } from "./changes.ts";
import { cleanForGoogle } from "./google.ts";
import { cleanForMistral } from "./mistral.ts";
import { cleanForCompatible, cleanForOpenai } from "./openai.ts";
import { pairResults } from "./pairing.ts";

export interface CleanOptions {
  /** When the last compaction was, in milliseconds since 1970: reasoning of messages before it is not sent any more. */
  compactedBefore?: number;
}

export interface Cleaned {
  messages: Message[];
  /** Everything that was done, in the order it was done; empty when the conversation was clean. */
  changes: HygieneChange[];
}

/**
 * The conversation as a provider takes it. The messages handed over are not touched, and a clean conversation comes
 * back as it is: cleaning twice is cleaning once.
 */
export function cleanForProvider(
  messages: readonly Message[],
  provider: HygieneProvider,
  options: CleanOptions = {},
): Cleaned {
  const changes: HygieneChange[] = [];
  const note: Note = (rule, message, detail) => {
    changes.push(message?.id === undefined ? { rule, detail } : { rule, messageId: message.id, detail });
  };
  const paired = pairResults(dropEmptyBlocks(messages, provider, note), note);
  return { messages: forProvider(paired, provider, options, note), changes };
}

function forProvider(messages: Message[], provider: HygieneProvider, options: CleanOptions, note: Note): Message[] {
  switch (provider) {
    case "anthropic":
      return cleanForAnthropic(messages, options.compactedBefore, note);
    case "google":
      return cleanForGoogle(messages, note);
    case "mistral":
      return cleanForMistral(messages, note);
    case "openai":
      return cleanForOpenai(messages, note);
    case "openai-compatible":
      return cleanForCompatible(messages, note);
  }
}
