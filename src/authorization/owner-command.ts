import { localChannel, type Peer } from "./people.ts";

/** A word that a shell takes without quotes. */
const plainWord = /^[\w@%+=:,./-]+$/;

/** The command line that makes a person the owner, ready to be pasted into a shell. */
export function printOwnerCommand({ channel, peer }: Peer, agent?: string): string {
  const words = [channel ?? localChannel, peer];
  // A word that begins with a dash would be read as an option.
  const ids = words.some((word) => word.startsWith("-")) ? ["--", ...words] : words;
  const named = agent === undefined ? [] : ["--agent", agent];
  return ["varve", "owner", "add", ...named, ...ids].map(quote).join(" ");
}

function quote(word: string): string {
  if (plainWord.test(word)) return word;
  if (!acting.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  const escaped = word.replaceAll(/[\\']/g, "\\$&").replaceAll(new RegExp(acting, "gu"), escapeCharacter);
  return `$'${escaped}'`;
}

/** Characters that a terminal does not show as they are: the command has them as escapes of the shell. */
const acting = /[^\P{C}]|[^\P{Z} ]/u;

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}
