import { closeSync, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import { VarveError } from "../domain/index.ts";

const sizeMax = 256 * 1024;

/** The text of a file of secrets; undefined when there is none. One that others may read is refused. */
export function readPrivately(
  path: string,
  unusable: (why: string, cause?: unknown) => VarveError,
): string | undefined {
  const descriptor = open(path, unusable);
  if (descriptor === undefined) return undefined;
  try {
    const { mode, size } = fstatSync(descriptor);
    // Windows has no such bits; its files say 666 whatever their access list is.
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new VarveError(
        "REFUSED",
        `Others may read the keys in ${path}: it has mode ${(mode & 0o777).toString(8)}.`,
        {
          remedy: `Run \`chmod 600 ${path}\`, and replace the keys if somebody may have seen them.`,
        },
      );
    }
    if (size > sizeMax) throw unusable(`it is larger than ${sizeMax} bytes`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

function open(path: string, unusable: (why: string, cause?: unknown) => VarveError): number | undefined {
  // Most homes have none, and asking is cheaper than failing.
  if (!existsSync(path)) return undefined;
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw unusable(error instanceof Error ? error.message : String(error), error);
  }
}
