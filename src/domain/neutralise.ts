/**
 * Text from a conversation is data wherever it is put. These functions keep it from acting as anything else: as a tag or a
 * citation in a prompt, or as a control sequence in a terminal.
 */

/**
 * Characters that are not seen but act: control characters, marks that change the direction of the text around them, line
 * separators, and the tag characters that hide text from people but not from models. Tab and line feed are kept.
 */
const acting =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what must not come through.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Shows characters that would act, such as terminal escapes and changes of direction, as `\x1b` or `\u202e`. */
export function showControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(acting, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
    return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** An opening bracket before something that reads like a citation. */
const citationBracket = /\[(?=\s{0,4}(?:msg#|sum_|mem_|file_|note\b))/g;

/** Lets text open and close no tag. A closing angle bracket alone does neither, so that `a => b` stays as it is. */
export function escapeTags(text: string): string {
  return text.replaceAll("<", "&lt;");
}

/** Makes text safe to quote in a prompt: it can open no tag, close none, and pass for no citation. */
export function neutralise(text: string): string {
  return escapeTags(showControls(text)).replace(citationBracket, "&#91;");
}

const nameLengthMax = 100;

/** Makes a name that somebody chose safe to put before what they said: one line, and not long. */
export function neutraliseName(name: string): string {
  const line = name
    .slice(0, nameLengthMax)
    .toWellFormed()
    .replaceAll(/[\s\u0085]+/g, " ");
  return neutralise(line).trim();
}

/** Writes such characters in a JSON document as escapes: it means the same, and nothing in it acts on a terminal. */
export function escapeJson(json: string): string {
  return json.replace(acting, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      const unit = character.charCodeAt(at).toString(16).padStart(4, "0");
      return `\\u${unit}`;
    }).join(""),
  );
}
