import type { Language } from "./languages.ts";

/** Lines that hardly anything but this language has. */
const marks: readonly (readonly [Language, RegExp])[] = [
  [
    "TypeScript",
    /^\s*(?:export )?(?:declare |abstract )*(?:interface \w+[^:]*\{|type \w+(?:<.*>)? =|enum \w+ \{|(?:async )?function \w+\(.*\w\??: .*\)|(?:const|let) \w+: )|^import type /,
  ],
  [
    "JavaScript",
    /^\s*(?:import\b.*\bfrom ['"]|import ['"]|export (?:default|const|let|function|class|async|\{|\*)|(?:const|let|var) [\w{[].* = |(?:async )?function\*? \w+\(|class \w+(?: extends [\w.]+)? \{|module\.exports\b|\}\)(?:\(\))?;$)/,
  ],
  [
    "Python",
    /^\s*(?:async )?def \w+\(.*|^\s*class \w+(?:\(.*\))?:\s*$|^(?:import [\w.]+(?: as \w+)?(?:, [\w.]+)*|from [\w.]+ import .+)$|^if __name__ ==|^\s*(?:elif .*|else|try|except.*|finally):\s*$|^@\w[\w.]*/,
  ],
  [
    "Rust",
    /^\s*(?:pub(?:\([a-z]+\))? )?(?:async |unsafe |const )*fn \w+|^\s*(?:pub )?use (?:\w+::)+|^\s*impl(?:<.*>)? \w+|^\s*(?:pub )?(?:struct|enum|trait|mod) \w+|^\s*let mut \w+|^#!?\[\w+/,
  ],
  [
    "Go",
    /^package \w+$|^func (?:\(\w+ \*?\w+(?:\[.*\])?\) )?\w+(?:\[.*\])?\(|^import \($|^import "|^type \w+ (?:struct|interface|func)\b|^\s*\w+(?:, \w+)* := |^\s*if err != nil \{/,
  ],
  [
    "Java",
    /^package [\w.]+;|^import (?:static )?[\w.]+(?:\.\*)?;|^\s*(?:public|private|protected) (?:(?:static|final|abstract|sealed) )*(?:class|interface|enum|record|void|[\w<>[\]]+) \w+|^\s*@Override$/,
  ],
  [
    "C++",
    /^\s*#\s*include <\w+>$|^\s*(?:using namespace \w+;|namespace \w+ ?\{|template ?<|class \w+(?: final)?(?: : \w+ \w+)? ?\{?$|(?:public|private|protected):$)|\bstd::\w+/,
  ],
  [
    "C",
    /^\s*#\s*(?:include [<"]|define \w+|ifn?def \w+|endif)|^(?:static |extern |const |unsigned )*(?:int|void|char|size_t|long|double|float|bool|struct \w+) \*?\w+\(.*|^typedef (?:struct|enum|union)?\b/,
  ],
];
const linesMax = 400;
const hitsMin = 3;
const shareMin = 0.04;

/** The language a text is written in; undefined when it does not look like code. */
export function looksLikeCode(start: string): Language | undefined {
  if (/^\s*<\?php\b/.test(start)) return "PHP";
  const interpreter = /^#!.*?\b(python|node|deno|bun|php)/.exec(start)?.[1];
  if (interpreter !== undefined)
    return interpreter === "python" ? "Python" : interpreter === "php" ? "PHP" : "JavaScript";
  const lines = withoutFences(start.split("\n", linesMax)).filter((line) => line.trim() !== "");
  const hits = marks.map(([language, pattern]) => ({
    language,
    hits: lines.filter((line) => pattern.test(line.slice(0, 300).trimEnd())).length,
  }));
  const best = hits.reduce((one, other) => (other.hits > one.hits ? other : one));
  if (best.hits < hitsMin || best.hits < shareMin * lines.length) return undefined;
  const hitsOf = (language: Language) => hits.find((one) => one.language === language)?.hits ?? 0;
  // Each of these pairs shares most of its lines; what only the second one has decides.
  if (best.language === "JavaScript" && hitsOf("TypeScript") > 0) return "TypeScript";
  if (best.language === "C" && hitsOf("C++") > 0 && !isPlainC(lines)) return "C++";
  return best.language;
}

/** Code in fences belongs to a text about it. */
function withoutFences(lines: readonly string[]): string[] {
  let isFenced = false;
  return lines.filter((line) => {
    const isFence = /^\s{0,3}(?:```|~~~)/.test(line);
    if (isFence) isFenced = !isFenced;
    return !isFence && !isFenced;
  });
}

function isPlainC(lines: readonly string[]): boolean {
  return !lines.some((line) => /\bstd::|^\s*(?:template ?<|namespace \w+|class \w+|using namespace )/.test(line));
}
