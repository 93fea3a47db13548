import { VarveError } from "../../domain/index.ts";

export const root = "/memories";
const pathCharsMax = 500;

/** Normalises a path under `/memories`. Rejects traversal, also in encoded form. */
export function checkPath(path: string): string {
  const clean = path.replace(/\/+$/, "");
  const segments = clean.split("/").slice(1);
  const isInside = clean === root || clean.startsWith(`${root}/`);
  const isPlain = segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters have no place in a path.
  const isSafe = path.length <= pathCharsMax && path.isWellFormed() && !/[\u0000-\u001f\\]|%2e|%2f|%5c/i.test(path);
  if (isInside && isPlain && isSafe) return clean;
  throw new VarveError("BAD_REQUEST", `The path ${JSON.stringify(path.slice(0, 200))} is not under ${root}.`, {
    remedy: `Send a path such as ${root}/notes.md, without "..".`,
  });
}
