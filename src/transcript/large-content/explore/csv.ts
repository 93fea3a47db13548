import { createRequire } from "node:module";
import { describeColumns } from "./csv-columns.ts";
import { counted, fit, type Section } from "./fit.ts";
import type { Subject } from "./subject.ts";

const require = createRequire(import.meta.url);
/** Loaded when it is needed: most processes never see a table. */
const parserOfTables = () => require("csv-parse/sync") as typeof import("csv-parse/sync");

const delimiters = [",", "\t", ";", "|"] as const;
const delimiterNames: Readonly<Record<string, string>> = { ",": "comma", "\t": "tab", ";": "semicolon", "|": "bar" };
/** Rows of the same length, out of all of them, that make a table. */
const sameShare = 0.9;
const cellLengthMax = 80;

/** The character that makes the most regular table of a text; undefined when it is none. */
export function findDelimiter(start: string, rowsMin: number): string | undefined {
  const scored = delimiters.map((delimiter) => ({ delimiter, columns: regularColumns(start, delimiter, rowsMin) }));
  const best = scored.reduce((one, other) => (other.columns > one.columns ? other : one));
  return best.columns >= 2 ? best.delimiter : undefined;
}

/** How many columns a text has when it is read with a delimiter, or 0 where its rows are not alike. */
function regularColumns(text: string, delimiter: string, rowsMin: number): number {
  // The look may end in the middle of a row.
  const { rows } = readRows(text, { delimiter, isCut: true, rowsMax: 100 });
  const [first] = rows;
  if (first === undefined || rows.length < rowsMin || first.length < 2) return 0;
  // Tables in Markdown begin and end every row with a bar.
  if (delimiter === "|" && rows.every((row) => row[0]?.trim() === "")) return 0;
  const isAlike = rows.filter((row) => row.length === first.length).length >= sameShare * rows.length;
  if (!isAlike) return 0;
  // Prose may have one comma in each of a few lines; the cells of a table are short, and it has more rows.
  const cells = rows.flat();
  const meanLength = cells.reduce((sum, cell) => sum + cell.length, 0) / cells.length;
  const isProse =
    rowsMin > 1 && (meanLength > cellLengthMax || (first.length === 2 && delimiter === "," && rows.length < 5));
  return isProse ? 0 : first.length;
}

export function exploreCsv({ text, isCut, extent }: Subject, delimiter: string): string {
  const { rows, isUnquoted } = readRows(text, { delimiter, isCut });
  const [first = []] = rows;
  const hasHeader = isHeader(first, rows);
  const body = hasHeader ? rows.slice(1) : rows;
  const columns = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const odd = rows.filter((row) => row.length !== first.length).length;
  const kind = `${delimiter === "\t" ? "TSV" : "CSV"} (${delimiterNames[delimiter] ?? delimiter})`;
  const head = `${kind}, ${counted(body.length, "row")}, ${counted(columns, "column")}${hasHeader ? "" : ", no header"}, ${extent}`;
  const notes: string[] = [];
  if (odd > 0) notes.push(`${counted(odd, "row")} of another length than the first`);
  if (isUnquoted) notes.push("a quote is never closed, so quotes were read as text");
  const sample = body[Math.floor(body.length / 2)] ?? [];
  const sections: Section[] = [
    {
      label: "Columns",
      items: describeColumns(hasHeader ? first : undefined, body, columns),
      total: columns,
      weight: 3,
    },
    { label: "Faults", items: notes, separator: "; ", weight: 0.7 },
    { label: "Sample row", items: sample.map((cell) => cell || "(empty)"), separator: " | ", weight: 1.2 },
  ];
  return fit(head, sections);
}

interface Rows {
  rows: string[][];
  isUnquoted: boolean;
}

interface ReadOptions {
  delimiter: string;
  isCut: boolean;
  rowsMax?: number;
}

/** Rows that were read before a quote that is never closed, which are enough to believe in the quotes. */
const wholeRowsMin = 3;

function readRows(text: string, { delimiter, isCut, rowsMax }: ReadOptions): Rows {
  const rows: string[][] = [];
  const options = {
    delimiter,
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    on_record: (row: string[]) => {
      rows.push(row);
      return null;
    },
    ...(rowsMax === undefined ? {} : { to: rowsMax }),
  };
  try {
    parserOfTables().parse(text, options);
  } catch {
    // A text that was cut inside of quotes has lost no more than its last row.
    if (isCut && rows.length >= wholeRowsMin) return { rows, isUnquoted: false };
    // A quote that is never closed swallows the rest; read as text it does no harm, and the result says so.
    rows.length = 0;
    parserOfTables().parse(text, { ...options, quote: false });
    return { rows, isUnquoted: true };
  }
  const isWhole = rows.length === rowsMax || /[\r\n]$/.test(text);
  if (isCut && !isWhole && rows.length > wholeRowsMin) rows.pop();
  return { rows, isUnquoted: false };
}

/** The first row names the columns when its cells are different, not empty and no numbers. */
function isHeader(first: readonly string[], rows: readonly string[][]): boolean {
  if (rows.length < 2 || new Set(first).size !== first.length) return false;
  return first.every(
    (cell) => cell.trim() !== "" && cell.length <= cellLengthMax && !/^[-+]?[\d.,:/]+$/.test(cell.trim()),
  );
}
