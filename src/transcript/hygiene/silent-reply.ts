/** The reply of a model that decided to say nothing. */
const silentToken = "NO_REPLY";

/** The delivered part of a reply. */
export interface DeliveredReply {
  text: string;
  /** Whether the model said, in so many words, that nothing is to be delivered. */
  isSilent: boolean;
}

/** Removes a first and a last line that is only the silent token; when nothing else is left, the reply is silent. */
export function stripSilentLines(text: string): DeliveredReply {
  const gate = createSilentReplyGate();
  const shown = gate.push(text) + gate.end();
  return { text: shown, isSilent: gate.isSilent };
}

/** Whether a reply is only the silent token, in any case and with any surrounding whitespace. */
export function isSilentReply(text: string): boolean {
  return stripSilentLines(text).isSilent;
}

/**
 * Filters a stream: its first line is withheld until it is clear whether it is the silent token, and so is every end
 * that may still become a last line with the token. Nothing of a silent reply is shown, not even a typing indicator.
 */
export interface SilentReplyGate {
  /** Adds streamed text, and returns the text that may be shown now. */
  push(text: string): string;
  /** Ends the stream, and returns the withheld rest unless it is the token. */
  end(): string;
  /** Whether the reply turned out to be silent. */
  readonly isSilent: boolean;
  /** Whether something may be shown; until then there is no typing indicator. */
  readonly isOpen: boolean;
}

export function createSilentReplyGate(): SilentReplyGate {
  let held = "";
  let isOpen = false;
  let hasToken = false;
  let hasEnded = false;
  return {
    push(text) {
      held += text;
      if (!isOpen) {
        if (hasToken) held = held.trimStart();
        const start = readStart(held);
        if (start === "waiting") return "";
        if (start === "token") {
          hasToken = true;
          held = held.replace(firstTokenLine, "");
          // What follows the token is the reply; its first line is decided in the same way.
          return this.push("");
        }
        isOpen = true;
      }
      const end = findPossibleEnd(held);
      const shown = held.slice(0, end);
      held = held.slice(end);
      return shown;
    },
    end() {
      hasEnded = true;
      const rest = held;
      held = "";
      if (!isOpen) {
        const isToken = rest.trim().toUpperCase() === silentToken;
        hasToken ||= isToken;
        if (isToken || rest.trim() === "") return hasToken ? "" : rest;
        isOpen = true;
        return rest;
      }
      return rest.trim().toUpperCase() === silentToken ? "" : rest;
    },
    get isSilent() {
      return hasEnded && hasToken && !isOpen;
    },
    get isOpen() {
      return isOpen;
    },
  };
}

const firstTokenLine = new RegExp(`^\\s*${silentToken}[^\\S\\n]*\\n\\s*`, "i");

/** Whether a text begins with a line that is only the token. */
function readStart(text: string): "waiting" | "open" | "token" {
  const start = text.trimStart();
  const end = start.indexOf("\n");
  if (end !== -1) return start.slice(0, end).trimEnd().toUpperCase() === silentToken ? "token" : "open";
  return mayBecomeToken(start) ? "waiting" : "open";
}

/** Whether a line that is not complete yet may be only the token. */
function mayBecomeToken(line: string): boolean {
  const upper = line.toUpperCase();
  return silentToken.startsWith(upper) || upper.trimEnd() === silentToken;
}

/** Where an end begins that may be a last line with the token, with the break before it; the length when none may. */
function findPossibleEnd(text: string): number {
  const words = text.trimEnd();
  const lineStart = words.lastIndexOf("\n") + 1;
  const line = words.slice(lineStart).trimStart();
  const isCandidate = lineStart > 0 && silentToken.startsWith(line.toUpperCase());
  const kept = isCandidate ? words.slice(0, lineStart).trimEnd() : words;
  // Spaces before the break may be shown already, when the stream was split after them, so they always are.
  const lineBreak = text.indexOf("\n", kept.length);
  return lineBreak === -1 ? text.length : lineBreak;
}
