const rowsMax = 2_000;

const types: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["integer", /^[-+]?\d{1,18}$/],
  ["number", /^[-+]?(?:\d{1,18}(?:[.,]\d{1,18})?|[.,]\d{1,18})(?:e[-+]?\d{1,3})?$/i],
  ["boolean", /^(?:true|false|yes|no)$/i],
  ["date", /^(?:\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4})(?:[T ]\d\d?:\d\d.*)?$/],
];
/** A column of few values among many rows holds names of kinds. */
const choicesMax = 6;

/** `id: integer 1–240`, `state: text (open, closed)`, for each column. */
export function describeColumns(
  header: readonly string[] | undefined,
  rows: readonly string[][],
  columns: number,
): string[] {
  const looked = rows.slice(0, rowsMax);
  return Array.from({ length: Math.min(columns, 500) }, (_, index) => {
    const cells = looked.map((row) => row[index]?.trim() ?? "");
    return `${header?.[index] || `column ${index + 1}`}: ${describeCells(cells)}`;
  });
}

function describeCells(cells: readonly string[]): string {
  const filled = cells.filter((cell) => cell !== "");
  if (filled.length === 0) return "empty";
  const type = typeOf(filled);
  const emptyShare = Math.round((100 * (cells.length - filled.length)) / cells.length);
  const empty = emptyShare > 0 ? `, ${emptyShare}% empty` : "";
  return `${type}${detailOf(type, filled)}${empty}`;
}

function typeOf(cells: readonly string[]): string {
  return types.find(([, pattern]) => cells.every((cell) => pattern.test(cell)))?.[0] ?? "text";
}

function detailOf(type: string, cells: readonly string[]): string {
  if (type === "integer" || type === "number") {
    const numbers = cells.map((cell) => Number(cell.replace(",", "."))).filter(Number.isFinite);
    if (numbers.length === 0) return "";
    const low = numbers.reduce((one, other) => Math.min(one, other));
    const high = numbers.reduce((one, other) => Math.max(one, other));
    return low === high ? ` ${low}` : ` ${low}–${high}`;
  }
  if (type === "date") {
    const sorted = cells.toSorted();
    return ` ${sorted[0]} to ${sorted.at(-1)}`;
  }
  const choices = new Set(cells);
  const isKind = type === "text" && choices.size <= choicesMax && choices.size * 3 <= cells.length;
  return isKind ? ` (${[...choices].map((choice) => choice.slice(0, 24)).join(", ")})` : "";
}
