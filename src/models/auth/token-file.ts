import { createHash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomically } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import { readPrivately } from "../private-file.ts";

const contents = z.object({
  /** Which settings the tokens follow from: others begin anew. */
  seed: z.string(),
  refreshToken: z.string().min(1),
  accessToken: z.string().min(1),
  expiresAt: z.number().optional(),
  renewAt: z.number().optional(),
});

export type KeptGrant = z.output<typeof contents>;

/** Where the tokens of a profile are kept; its lock is beside it. */
export function grantPath(home: string, profile: string): string {
  return join(home, "auth", `${profile}.json`);
}

/** Stands for a set of settings without telling them. */
export function seedOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

/** What was kept for these settings; undefined when nothing was, or for others. */
export function readGrant(path: string, seed: string): KeptGrant | undefined {
  const text = readPrivately(path, (why, cause) => unusable(path, why, cause));
  if (text === undefined) return undefined;
  const parsed = contents.safeParse(parseJson(path, text));
  if (!parsed.success) throw unusable(path, "it does not hold what Varve writes there");
  return parsed.data.seed === seed ? parsed.data : undefined;
}

export function writeGrant(path: string, grant: KeptGrant): void {
  try {
    writeAtomically(path, `${JSON.stringify(grant)}\n`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new VarveError("BAD_FILE", `The new tokens could not be written to ${path}: ${why}.`, {
      remedy: "Make room there. If the token server takes used refresh tokens back, log in anew afterwards.",
      cause,
    });
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's words would quote the text, which holds tokens.
    throw unusable(path, "it is not JSON");
  }
}

function unusable(path: string, why: string, cause?: unknown): VarveError {
  return new VarveError("BAD_FILE", `The tokens in ${path} cannot be used: ${why}.`, {
    remedy: "Remove the file, log in anew, and set the refreshToken of the profile again.",
    cause,
  });
}
