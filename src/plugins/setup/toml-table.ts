/** Where a table stands in TOML text. The text is not parsed beyond its headers: every other byte stays what it is. */

const name = String.raw`(?:[\w-]+|"[^"\n]*"|'[^'\n]*')`;
const header = new RegExp(
  String.raw`^[ \t]*\[{1,2}[ \t]*(${name}(?:[ \t]*\.[ \t]*${name})*)[ \t]*\]{1,2}[ \t]*(?:#.*)?$`,
);

/** The texts of a table and of the tables below it, one for each place where they stand. */
export function tablesNamed(text: string, path: readonly string[]): string[] {
  const found: string[] = [];
  let current: string | undefined;
  let open: string | undefined;
  for (const line of text.split(/(?<=\n)/)) {
    const names = open === undefined ? namesOf(line) : undefined;
    if (names !== undefined) {
      if (current !== undefined && !begins(names, path)) {
        found.push(current);
        current = undefined;
      }
      if (begins(names, path)) current ??= "";
    }
    if (current !== undefined) current += line;
    open = stringAfter(line, open);
  }
  return current === undefined ? found : [...found, current];
}

/** Whether a string over several lines is never closed. */
export function endsInString(text: string): boolean {
  let open: string | undefined;
  for (const line of text.split("\n")) open = stringAfter(line, open);
  return open !== undefined;
}

function namesOf(line: string): string[] | undefined {
  const found = header.exec(line.trimEnd())?.[1];
  return found?.match(new RegExp(name, "g"))?.map((one) => one.replaceAll(/^["']|["']$/g, ""));
}

function begins(names: readonly string[], path: readonly string[]): boolean {
  return path.every((one, index) => names[index] === one);
}

/** Which string over several lines is open behind a line. */
function stringAfter(line: string, before: string | undefined): string | undefined {
  let open = before;
  for (const [quotes] of line.matchAll(/"""|'''/g)) {
    if (open === undefined) open = quotes;
    else if (open === quotes) open = undefined;
  }
  return open;
}
