import { createHash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomically } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import { readPrivateFile } from "../credentials-file.ts";

const contents = z.object({
  /** Hash of the settings the tokens belong to; tokens of other settings are ignored. */
  seed: z.string(),
  refreshToken: z.string().min(1),
  accessToken: z.string().min(1),
  expiresAt: z.number().optional(),
  renewAt: z.number().optional(),
});

export type StoredTokens = z.output<typeof contents>;

/** Where the tokens of a profile are stored; the lock file is next to it. */
export function tokenFilePath(home: string, profile: string): string {
  return join(home, "auth", `${profile}.json`);
}

/** Identifies settings without revealing them. */
export function hashSettings(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

/** The tokens stored for these settings, if any. */
export function readTokens(path: string, seed: string): StoredTokens | undefined {
  const text = readPrivateFile(path, (why, cause) => unusableFileError(path, why, cause));
  if (text === undefined) return undefined;
  const parsed = contents.safeParse(parseJson(path, text));
  if (!parsed.success) throw unusableFileError(path, "it does not have the format that Varve writes");
  return parsed.data.seed === seed ? parsed.data : undefined;
}

export function writeTokens(path: string, grant: StoredTokens): void {
  try {
    writeAtomically(path, `${JSON.stringify(grant)}\n`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new VarveError("BAD_FILE", `The new tokens could not be written to ${path}: ${why}.`, {
      remedy: "Free some space. If the token server invalidates used refresh tokens, log in again afterwards.",
      cause,
    });
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote the text, which contains tokens.
    throw unusableFileError(path, "it is not JSON");
  }
}

function unusableFileError(path: string, why: string, cause?: unknown): VarveError {
  return new VarveError("BAD_FILE", `The tokens in ${path} cannot be used: ${why}.`, {
    remedy: "Remove the file, log in again, and set the refreshToken of the profile.",
    cause,
  });
}
