import { z } from "zod";
import { VarveError } from "../../domain/index.ts";
import { boundedFetch } from "../bounded-fetch.ts";
import { isCredential, quote } from "./quote.ts";

export interface GrantRequest {
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

export interface Granted {
  accessToken: string;
  /** Absent where the old one goes on. */
  refreshToken?: string;
  expiresInMs?: number;
}

const granted = z.object({
  access_token: z.string().refine(isCredential),
  token_type: z.string().optional(),
  expires_in: z.coerce.number().min(0).optional(),
  refresh_token: z.string().min(1).optional(),
});
const refusal = z.object({
  error: z.string().regex(/^[\x20-\x7e]{1,60}$/),
  error_description: z.string().optional(),
});

/** Asks a token server for an access token in exchange for a refresh token (RFC 6749, section 6), once. */
export async function refreshGrant(request: GrantRequest): Promise<Granted> {
  const { name, tokenUrl, timeoutMs } = request;
  const signal = AbortSignal.timeout(timeoutMs);
  let status: number;
  let text: string;
  try {
    const response = await boundedFetch(tokenUrl, { ...asForm(request), signal });
    status = response.status;
    text = await response.text();
  } catch (cause) {
    const { host } = new URL(tokenUrl);
    const why = signal.aborted ? `gave no answer within ${timeoutMs} ms` : "cannot be reached";
    throw notNow(name, `${host} ${why}`, cause);
  }
  return status >= 200 && status < 300 ? accepted(name, text) : refuse(request, status, text);
}

function asForm({ clientId, clientSecret, clientAuth, scope, refreshToken }: GrantRequest): RequestInit {
  const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken });
  if (scope !== undefined) form.set("scope", scope);
  const headers: Record<string, string> = {
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
  };
  if (clientSecret !== undefined && clientAuth === "basic") {
    const pair = [clientId, clientSecret].map((part) => formEncoded(part)).join(":");
    headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  } else {
    form.set("client_id", clientId);
    if (clientSecret !== undefined) form.set("client_secret", clientSecret);
  }
  // Tokens go where the settings say and nowhere else.
  return { method: "POST", headers, body: form.toString(), redirect: "error" };
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function accepted(name: string, text: string): Granted {
  const known = granted.safeParse(parseJson(text));
  if (!known.success) throw notNow(name, "the token server answered without a token");
  const { access_token: accessToken, token_type: type, expires_in: seconds, refresh_token: next } = known.data;
  if (type !== undefined && type.toLowerCase() !== "bearer") {
    throw new VarveError("BAD_CONFIG", `The token of the profile ${name} is of a kind that is not understood.`, {
      remedy: "Only Bearer tokens can be used; see models.auth for a key or a command in its place.",
    });
  }
  return {
    accessToken,
    ...(next === undefined ? {} : { refreshToken: next }),
    ...(seconds === undefined ? {} : { expiresInMs: seconds * 1_000 }),
  };
}

function refuse({ name, refreshToken, clientSecret }: GrantRequest, status: number, text: string): never {
  const known = refusal.safeParse(parseJson(text)).data;
  const secrets = [refreshToken, ...(clientSecret === undefined ? [] : [clientSecret])];
  const said = quote([known?.error, known?.error_description].filter(Boolean).join(": "), secrets);
  const answered = `HTTP ${status}${said === "" ? "" : ` (${said})`}`;
  if (status === 429 || status >= 500) throw notNow(name, `the token server answered ${answered}`);
  const isGrant = known?.error === "invalid_grant";
  throw new VarveError(
    "MODEL_KEY_REFUSED",
    `The profile ${name} gets no token: the token server answered ${answered}.`,
    {
      remedy: isGrant
        ? `Its refresh token is used up or was taken back. Log in anew and set models.auth.${name}.oauth.refreshToken.`
        : `Check clientId, clientSecret, clientAuth, scope and tokenUrl of models.auth.${name}.oauth.`,
      details: { profile: name, status },
    },
  );
}

/** A failure that may pass by itself. */
function notNow(name: string, why: string, cause?: unknown): VarveError {
  return new VarveError("MODEL_FAILED", `The profile ${name} gets no token now: ${why}.`, {
    remedy: `If it stays so, check models.auth.${name}.oauth.tokenUrl.`,
    cause,
    details: { retry: true, profile: name },
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What is not JSON says nothing that could be shown.
    return undefined;
  }
}
