import { z } from "zod";
import { isJsonObject } from "../domain/index.ts";

const hidden = "••••••";

/** Settings that contain secrets, each with a function that masks them. */
export const secrets = z.registry<{ mask(value: unknown): unknown }>();

/** Masks the password of a URL. Text that is not a URL is a path, which is not secret. */
export function maskDatabase(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value
    .replace(/^([a-z][a-z0-9+]*:\/\/[^:/@?#]*):.*@/i, `$1:${hidden}@`)
    .replace(/([?&](?:password|sslpassword)=)[^&#]*/gi, `$1${hidden}`);
}

/** The variable that holds a token is shown. A hash is masked, because a weak token could be guessed from it. */
export function maskTokens(value: unknown): unknown {
  if (!Array.isArray(value)) return hidden;
  return value.map((entry) => {
    if (!isJsonObject(entry)) return hidden;
    const isReference = typeof entry.token === "string" && entry.token.startsWith("env:");
    return { ...entry, token: isReference ? entry.token : hidden };
  });
}

/** The variable that holds a key is shown; keys and passwords in URLs are masked. */
export function maskProviders(value: unknown): unknown {
  if (!isJsonObject(value)) return hidden;
  const masked = Object.entries(value).map(([name, entry]) => {
    if (!isJsonObject(entry)) return [name, hidden];
    const { apiKey, baseUrl } = entry;
    return [
      name,
      {
        ...entry,
        ...(apiKey === undefined ? {} : { apiKey: maskKey(apiKey) }),
        ...(baseUrl === undefined ? {} : { baseUrl: maskDatabase(baseUrl) }),
      },
    ];
  });
  return Object.fromEntries(masked);
}

/** Masks the secret fields of a profile; of a command, everything but the program. */
export function maskAuth(value: unknown): unknown {
  if (!isJsonObject(value)) return hidden;
  return Object.fromEntries(Object.entries(value).map(([name, profile]) => [name, maskProfile(profile)]));
}

function maskProfile(profile: unknown): unknown {
  if (!isJsonObject(profile)) return hidden;
  const { apiKey, command, oauth } = profile;
  return {
    ...profile,
    ...(apiKey === undefined ? {} : { apiKey: maskKey(apiKey) }),
    ...(command === undefined ? {} : { command: maskCommand(command) }),
    ...(oauth === undefined ? {} : { oauth: maskGrant(oauth) }),
  };
}

function maskGrant(oauth: unknown): unknown {
  if (!isJsonObject(oauth)) return hidden;
  const { tokenUrl, clientSecret, refreshToken } = oauth;
  return {
    ...oauth,
    ...(tokenUrl === undefined ? {} : { tokenUrl: maskDatabase(tokenUrl) }),
    ...(clientSecret === undefined ? {} : { clientSecret: maskKey(clientSecret) }),
    ...(refreshToken === undefined ? {} : { refreshToken: maskKey(refreshToken) }),
  };
}

function maskCommand(command: unknown): unknown {
  const words = typeof command === "string" ? command.trim().split(/\s+/) : command;
  if (!Array.isArray(words)) return hidden;
  return words.length > 1 ? [words[0], hidden] : words;
}

/** A reference to a variable does not reveal the key. */
function maskKey(key: unknown): unknown {
  return typeof key === "string" && key.startsWith("env:") ? key : hidden;
}
