import { VarveError } from "./errors.ts";

/** Words that have a meaning in session keys: an id that equals one is escaped, so that it stays an id. */
const reservedWords: ReadonlySet<string> = new Set([
  ...["agent", "cron", "hook", "direct", "dm", "subagent", "group", "channel", "room"],
  ...["thread", "topic", "run", "main", "global"],
]);

/** Channels whose ids are the same in upper and lower case. Everywhere else an id is exactly its characters. */
const caseInsensitiveChannels: ReadonlySet<string> = new Set(["email", "irc", "xmpp"]);

/** The colon, the percent sign, blanks, control characters and characters that cannot be seen. Part of stored keys: fixed. */
const unsafe =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are among what is escaped.
  /[:%\u0000-\u0020\u007f-\u00a0\u00ad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/g;

function encodeCharacter(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}

/** A to Z in lower case; every other character stays. `toLowerCase` would also make a k of the sign for Kelvin. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** The form in which ids of a channel are compared and stored. */
export function foldId(channel: string | undefined, id: string): string {
  return channel !== undefined && caseInsensitiveChannels.has(foldCase(channel)) ? foldCase(id) : id;
}

/** Writes an id as one segment of a key or a scope: different ids have different segments. */
export function escapeSegment(id: string): string {
  if (!id.isWellFormed()) {
    throw new VarveError("BAD_KEY", `The id ${JSON.stringify(id.slice(0, 200))} contains a broken character.`, {
      remedy: "Send the id as well-formed Unicode text.",
    });
  }
  const escaped = id.replace(unsafe, encodeCharacter);
  return reservedWords.has(foldCase(id)) ? escapeFirst(escaped) : escaped;
}

/** Writes an id with one more letter escaped: somebody who merely has the name of a linked person. */
export function escapeNamesake(id: string): string {
  return escapeFirst(escapeSegment(id));
}

/** Escapes the first character that is not escaped yet; where all are, a percent sign at the end marks the segment. */
function escapeFirst(text: string): string {
  const marked = text.replace(
    /^((?:%[0-9A-F]{2})*)([^%])/u,
    (_, before: string, first: string) => before + encodeCharacter(first),
  );
  return marked === text ? `${text}%` : marked;
}

/** Reads a segment. Text that is no escaped form of anything is an id as it stands. */
export function readSegment(text: string): { id: string; isNamesake: boolean } {
  if (text.includes("%")) {
    const id = decodePercent(text.replace(/%$/, ""));
    if (id?.isWellFormed()) {
      if (escapeSegment(id) === text) return { id, isNamesake: false };
      if (escapeNamesake(id) === text) return { id, isNamesake: true };
    }
  }
  return { id: text, isNamesake: false };
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not a percent-encoded text.
    return undefined;
  }
}
