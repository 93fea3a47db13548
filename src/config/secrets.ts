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

/** Where a key comes from may be seen, the key itself may not; nor a password in an address. */
export function maskProviders(value: unknown): unknown {
  if (!isJsonObject(value)) return hidden;
  const masked = Object.entries(value).map(([name, entry]) => {
    if (!isJsonObject(entry)) return [name, hidden];
    const { apiKey, baseUrl } = entry;
    const isReference = typeof apiKey === "string" && apiKey.startsWith("env:");
    return [
      name,
      {
        ...entry,
        ...(apiKey === undefined || isReference ? {} : { apiKey: hidden }),
        ...(baseUrl === undefined ? {} : { baseUrl: maskDatabase(baseUrl) }),
      },
    ];
  });
  return Object.fromEntries(masked);
}
