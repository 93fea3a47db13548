import { z } from "zod";
import { isJsonObject } from "../domain/index.ts";

const hidden = "••••••";

/** The settings that hold secrets, each with how it is shown to people. */
export const secrets = z.registry<{ mask(value: unknown): unknown }>();

/** A URL keeps everything but its password. Text that is no URL is a path, and no secret. */
export function maskDatabase(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value
    .replace(/^([a-z][a-z0-9+]*:\/\/[^:/@?#]*):.*@/i, `$1:${hidden}@`)
    .replace(/([?&](?:password|sslpassword)=)[^&#]*/gi, `$1${hidden}`);
}

/** Where a token comes from may be seen; its hash may not, since a weak token could be guessed from it. */
export function maskTokens(value: unknown): unknown {
  if (!Array.isArray(value)) return hidden;
  return value.map((entry) => {
    if (!isJsonObject(entry)) return hidden;
    const isReference = typeof entry.token === "string" && entry.token.startsWith("env:");
    return { ...entry, token: isReference ? entry.token : hidden };
  });
}
