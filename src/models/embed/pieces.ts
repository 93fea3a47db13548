/** How many tokens one piece of a long text has at most; the model was trained on texts of this size. */
const pieceTokensMax = 160;
/** What lies behind this many pieces of one text is not embedded; the text index still finds it. */
export const piecesMax = 24;

const unitEnd = /(?<=\n)|(?<=[.!?。！？])\s*(?=\S)/u;

/** Cuts a text at ends of lines and sentences into pieces the model takes whole. */
export function splitPieces(
  text: string,
  countTokens: (text: string) => number,
  tokensMax = pieceTokensMax,
): { pieces: string[]; cut: boolean } {
  const pieces: string[] = [];
  let current = "";
  let tokens = 0;
  const flush = () => {
    if (current !== "") pieces.push(current);
    current = "";
    tokens = 0;
  };
  for (const unit of unitsOf(text)) {
    if (pieces.length >= piecesMax) return { pieces: pieces.slice(0, piecesMax), cut: true };
    const size = countTokens(unit);
    if (tokens > 0 && tokens + size > tokensMax) flush();
    if (size > tokensMax) {
      flush();
      pieces.push(...hardCut(unit, Math.ceil(size / tokensMax)));
      continue;
    }
    current += current === "" ? unit : ` ${unit}`;
    tokens += size;
  }
  flush();
  return pieces.length > piecesMax ? { pieces: pieces.slice(0, piecesMax), cut: true } : { pieces, cut: false };
}

function* unitsOf(text: string): Generator<string> {
  for (const unit of text.split(unitEnd)) {
    const trimmed = unit.trim();
    if (trimmed !== "") yield trimmed;
  }
}

/** A sentence without end (a table, a dump) is cut by length alone. */
function hardCut(unit: string, parts: number): string[] {
  const size = Math.ceil(unit.length / parts);
  return Array.from({ length: parts }, (_, part) => unit.slice(part * size, (part + 1) * size)).filter(Boolean);
}
