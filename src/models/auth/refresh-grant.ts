import { z } from "zod";
import { VarveError } from "../../domain/index.ts";
import { boundedFetch } from "../bounded-fetch.ts";
import { isCredential, quoteSafely } from "./quote.ts";

export interface RefreshRequest {
  /** The name of the profile, for messages. */
  name: string;
  tokenUrl: string;
  clientId: string;
  clientSecret?: string;
  clientAuth: "basic" | "body";
  scope?: string;
  refreshToken: string;
  timeoutMs: number;
}

export interface RefreshResult {
  accessToken: string;
  /** Absent when the old one stays valid. */
  refreshToken?: string;
  expiresInMs?: number;
}

const tokenResponse = z.object({
  access_token: z.string().refine(isCredential),
  token_type: z.string().optional(),
  expires_in: z.coerce.number().min(0).optional(),
  refresh_token: z.string().min(1).optional(),
});
const refusal = z.object({
  error: z.string().regex(/^[\x20-\x7e]{1,60}$/),
  error_description: z.string().optional(),
});

/** Exchanges a refresh token for an access token (RFC 6749, section 6), without retries. */
export async function refreshAccessToken(request: RefreshRequest): Promise<RefreshResult> {
  const { name, tokenUrl, timeoutMs } = request;
  const signal = AbortSignal.timeout(timeoutMs);
  let status: number;
  let text: string;
  try {
    const response = await boundedFetch(tokenUrl, { ...toFormRequest(request), signal });
    status = response.status;
    text = await response.text();
  } catch (cause) {
    const { host } = new URL(tokenUrl);
    const why = signal.aborted ? `did not answer within ${timeoutMs} ms` : "cannot be reached";
    throw temporaryError(name, `${host} ${why}`, cause);
  }
  return status >= 200 && status < 300 ? parseTokens(name, text) : throwRejection(request, status, text);
}

function toFormRequest({ clientId, clientSecret, clientAuth, scope, refreshToken }: RefreshRequest): RequestInit {
  const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken });
  if (scope !== undefined) form.set("scope", scope);
  const headers: Record<string, string> = {
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
  };
  if (clientSecret !== undefined && clientAuth === "basic") {
    const pair = [clientId, clientSecret].map((part) => encodeFormValue(part)).join(":");
    headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  } else {
    form.set("client_id", clientId);
    if (clientSecret !== undefined) form.set("client_secret", clientSecret);
  }
  // Tokens are sent only to the configured server.
  return { method: "POST", headers, body: form.toString(), redirect: "error" };
}

function encodeFormValue(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function parseTokens(name: string, text: string): RefreshResult {
  const known = tokenResponse.safeParse(parseJson(text));
  if (!known.success) throw temporaryError(name, "the token server answered without a token");
  const { access_token: accessToken, token_type: type, expires_in: seconds, refresh_token: next } = known.data;
  if (type !== undefined && type.toLowerCase() !== "bearer") {
    throw new VarveError("BAD_CONFIG", `The token of the profile ${name} has an unsupported type.`, {
      remedy: "Only Bearer tokens are supported. Configure a key or a command in models.auth instead.",
    });
  }
  return {
    accessToken,
    ...(next === undefined ? {} : { refreshToken: next }),
    ...(seconds === undefined ? {} : { expiresInMs: seconds * 1_000 }),
  };
}

function throwRejection({ name, refreshToken, clientSecret }: RefreshRequest, status: number, text: string): never {
  const known = refusal.safeParse(parseJson(text)).data;
  const secrets = [refreshToken, ...(clientSecret === undefined ? [] : [clientSecret])];
  const quoted = quoteSafely([known?.error, known?.error_description].filter(Boolean).join(": "), secrets);
  const answered = `HTTP ${status}${quoted === "" ? "" : ` (${quoted})`}`;
  if (status === 429 || status >= 500) throw temporaryError(name, `the token server answered ${answered}`);
  const isGrant = known?.error === "invalid_grant";
  throw new VarveError(
    "MODEL_KEY_REFUSED",
    `The profile ${name} gets no token: the token server answered ${answered}.`,
    {
      remedy: isGrant
        ? `Its refresh token has expired or was revoked. Log in again and set models.auth.${name}.oauth.refreshToken.`
        : `Check clientId, clientSecret, clientAuth, scope and tokenUrl of models.auth.${name}.oauth.`,
      details: { profile: name, status },
    },
  );
}

/** A failure that may be temporary. */
function temporaryError(name: string, why: string, cause?: unknown): VarveError {
  return new VarveError("MODEL_FAILED", `The profile ${name} gets no token at the moment: ${why}.`, {
    remedy: `If this persists, check models.auth.${name}.oauth.tokenUrl.`,
    cause,
    details: { retry: true, profile: name },
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A response that is not JSON contains nothing that can be shown safely.
    return undefined;
  }
}
