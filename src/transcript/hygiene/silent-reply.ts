/** The reply of a model that decided to say nothing. */
const silentToken = "NO_REPLY";

/** Whether a reply is only the silent token, in any case and with any surrounding whitespace. */
export function isSilentReply(text: string): boolean {
  return text.trim().toUpperCase() === silentToken;
}

/**
 * Buffers a stream until it is clear whether it starts with the silent token, then passes everything on or nothing. A
 * silent stream shows nothing, not even a typing indicator.
 */
export interface SilentReplyGate {
  /** Adds streamed text, and returns the text that may be shown now. */
  push(text: string): string;
  /** Ends the stream, and returns the buffered rest unless the reply is silent. */
  end(): string;
  /** Whether the reply turned out to be silent. */
  readonly isSilent: boolean;
  /** Whether something may be shown; until then there is no typing indicator. */
  readonly isOpen: boolean;
}

export function createSilentReplyGate(): SilentReplyGate {
  let held = "";
  let verdict: "waiting" | "open" | "silent" = "waiting";
  const release = () => {
    const text = held;
    held = "";
    return text;
  };
  return {
    push(text) {
      if (verdict === "silent") return "";
      held += text;
      if (verdict === "waiting") verdict = classifyStart(held);
      return verdict === "open" ? release() : "";
    },
    end() {
      if (verdict === "waiting") verdict = isSilentReply(held) ? "silent" : "open";
      return verdict === "open" ? release() : "";
    },
    get isSilent() {
      return verdict === "silent";
    },
    get isOpen() {
      return verdict === "open";
    },
  };
}

function classifyStart(text: string): "waiting" | "open" | "silent" {
  const start = text.trimStart().toUpperCase();
  if (!start.startsWith(silentToken)) return silentToken.startsWith(start) ? "waiting" : "open";
  const next = start.charAt(silentToken.length);
  if (next === "") return "waiting";
  // A longer word with the same beginning, such as NO_REPLYING, is a normal reply.
  return /[A-Z0-9_]/.test(next) ? "open" : "silent";
}
