/** What a model says when it has decided to say nothing. */
const silentToken = "NO_REPLY";

/** Whether an answer is only the silent token, in any case and with any space around it. */
export function isSilentReply(text: string): boolean {
  return text.trim().toUpperCase() === silentToken;
}

/**
 * Holds a stream back until it is clear whether it begins with the silent token. Then it lets everything through, or
 * nothing: a stream that begins with it shows nothing, not even that somebody types.
 */
export interface SilentReplyGate {
  /** Takes what the model just said, and gives what may be shown of it and of all that was held back. */
  push(text: string): string;
  /** The stream is over: gives what is still held back, unless the answer is silent. */
  end(): string;
  /** Whether the stream has turned out to be silent. */
  readonly isSilent: boolean;
  /** Whether something may be shown: until then, no sign of typing. */
  readonly isOpen: boolean;
}

export function silentReplyGate(): SilentReplyGate {
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
      if (verdict === "waiting") verdict = judge(held);
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

function judge(text: string): "waiting" | "open" | "silent" {
  const start = text.trimStart().toUpperCase();
  if (!start.startsWith(silentToken)) return silentToken.startsWith(start) ? "waiting" : "open";
  const next = start.charAt(silentToken.length);
  if (next === "") return "waiting";
  // A longer word that only begins like the token, such as NO_REPLYING, is an answer.
  return /[A-Z0-9_]/.test(next) ? "open" : "silent";
}
