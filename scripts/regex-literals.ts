/** Finds the regular expressions that are written in a source file. */
import { parser } from "@lezer/javascript";

export interface RegexLiteral {
  file: string;
  line: number;
  source: string;
  flags: string;
}

const typescript = parser.configure({ dialect: "ts" });

/** Lists the literals of a file in their order. */
export function listRegexLiterals(file: string, text: string): RegexLiteral[] {
  const found: RegexLiteral[] = [];
  typescript.parse(text).iterate({
    enter: ({ name, from, to }) => {
      if (name !== "RegExp") return;
      const literal = text.slice(from, to);
      const end = literal.lastIndexOf("/");
      const line = text.slice(0, from).split("\n").length;
      found.push({ file, line, source: literal.slice(1, end), flags: literal.slice(end + 1) });
    },
  });
  return found;
}
