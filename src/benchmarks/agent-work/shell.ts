/** A small reader of shell commands: enough to see which programs run, on which files, and what is piped where. */

export interface ShellCommand {
  words: string[];
  /** The files that its output is written to. */
  writes: string[];
  /** The folder of an earlier `cd`, when there was one. */
  folder: string;
  /** The commands that its output is piped through. */
  filters: string[][];
  /** Whether its exit code can be ignored by the line, as with `|| true`. */
  guarded: boolean;
}

type Token = { kind: "word" | "operator"; text: string };

export function parseShell(text: string): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let folder = "";
  let words: string[] = [];
  let writes: string[] = [];
  let piped = false;
  const finish = (operator: string) => {
    const [name = "", first = ""] = words;
    if (name === "cd") folder = joinFolder(folder, first);
    else if (piped) {
      commands.at(-1)?.filters.push(words);
      commands.at(-1)?.writes.push(...writes);
    } else if (words.length > 0) commands.push({ words, writes, folder, filters: [], guarded: false });
    const last = commands.at(-1);
    if (last !== undefined && (operator === "||" || operator === ";")) last.guarded = true;
    piped = operator === "|" || operator === "|&";
    words = [];
    writes = [];
  };
  const tokens = tokenise(dropHeredocs(text));
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.kind === "word") words.push(token.text);
    else if (/^(?:\d|&)?>>?$/.test(token.text)) {
      const target = tokens[at + 1];
      if (target?.kind === "word" && !/^2/.test(token.text)) writes.push(target.text);
      at += 1;
    } else if (token.text !== "2>&1" && token.text !== "<") finish(token.text);
  }
  finish("");
  return commands;
}

function joinFolder(folder: string, next: string): string {
  return /^[/~]/.test(next) || folder === "" ? next : `${folder}/${next}`;
}

/** Bodies of here-documents are data, not commands. */
function dropHeredocs(text: string): string {
  return text.replace(/<<-?\s*(['"]?)(\w+)\1([^\n]*)\n[\s\S]*?(?:\n\s*\2(?=\n|$)|$)/g, "$3");
}

const operatorPattern = /^(?:&&|\|\||\|&|2>&1|>&2|&>>?|\d?>>?|[|;&\n<])/;

function tokenise(text: string): Token[] {
  const tokens: Token[] = [];
  let word: string | undefined;
  const push = () => {
    if (word !== undefined) tokens.push({ kind: "word", text: word });
    word = undefined;
  };
  for (let at = 0; at < text.length; at += 1) {
    const rest = text.slice(at, at + 5);
    const char = text[at] ?? "";
    const operator = word === undefined || !/^\d/.test(rest) ? operatorPattern.exec(rest)?.[0] : undefined;
    if (char === "\\") {
      if (text[at + 1] !== "\n") word = (word ?? "") + (text[at + 1] ?? "");
      at += 1;
    } else if (char === "'" || char === '"') {
      const end = findQuoteEnd(text, at);
      word = (word ?? "") + text.slice(at + 1, end);
      at = end;
    } else if (char === "#" && word === undefined) {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end - 1;
    } else if (operator !== undefined) {
      push();
      if (operator !== ">&2") tokens.push({ kind: "operator", text: operator === "\n" ? "&&" : operator });
      at += operator.length - 1;
    } else if (/\s/.test(char)) push();
    else word = (word ?? "") + char;
  }
  push();
  return tokens;
}

function findQuoteEnd(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === "\\" && quote === '"') at += 1;
    else if (text[at] === quote) return at;
  }
  return text.length;
}
