/** Maximum tokens of one piece; the model was trained on texts of this size. */
const pieceTokensMax = 160;
/** Later pieces of a text are not embedded; the text index still finds them. */
export const piecesMax = 24;

const unitEnd = /(?<=\n)|(?<=[.!?。！？])\s*(?=\S)/u;

/** Splits a text at line and sentence ends into pieces that fit the model. */
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
  for (const unit of splitUnits(text)) {
    if (pieces.length >= piecesMax) return { pieces: pieces.slice(0, piecesMax), cut: true };
    const size = countTokens(unit);
    if (tokens > 0 && tokens + size > tokensMax) flush();
    if (size > tokensMax) {
      flush();
      pieces.push(...splitByLength(unit, Math.ceil(size / tokensMax)));
      continue;
    }
    current += current === "" ? unit : ` ${unit}`;
    tokens += size;
  }
  flush();
  return pieces.length > piecesMax ? { pieces: pieces.slice(0, piecesMax), cut: true } : { pieces, cut: false };
}

function* splitUnits(text: string): Generator<string> {
  for (const unit of text.split(unitEnd)) {
    const trimmed = unit.trim();
    if (trimmed !== "") yield trimmed;
  }
}

/** An overlong sentence (a table, a dump) is split by length. */
function splitByLength(unit: string, parts: number): string[] {
  const size = Math.ceil(unit.length / parts);
  return Array.from({ length: parts }, (_, part) => unit.slice(part * size, (part + 1) * size)).filter(Boolean);
}
