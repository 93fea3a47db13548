/** Calls the HTTP API. The types come from the schemas of the routes, so that the two cannot differ. */
import type { Api } from "../../../src/http/api.ts";
import { requestToken, showLogin } from "./login.ts";

export type Route = keyof Api;
export type Answer<R extends Route> = Api[R]["answer"];

type Given<R extends Route> = (Api[R]["params"] extends undefined ? object : { params: Api[R]["params"] }) & {
  query?: Partial<Record<keyof NonNullable<Api[R]["query"]>, string | number | undefined>>;
  signal?: AbortSignal;
} & (Api[R]["body"] extends undefined ? object : { body?: Api[R]["body"] });

/** An error of the API: what happened, and what to do. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly remedy: string | undefined;

  constructor(status: number, code: string, message: string, remedy?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.remedy = remedy;
  }
}

/** Calls a route, for example `call("GET /api/sessions", { query: { limit: 20 } })`. */
export async function call<R extends Route>(route: R, given: Given<R>): Promise<Answer<R>> {
  const space = route.indexOf(" ");
  const [method, path] = [route.slice(0, space), route.slice(space + 1)];
  const {
    params = {},
    query = {},
    body,
    signal,
  } = given as {
    params?: Record<string, string>;
    query?: Record<string, string | number | undefined>;
    body?: unknown;
    signal?: AbortSignal;
  };
  const response = await send(method, fillPath(path, params) + printQuery(query), body, signal);
  return (await response.json()) as Answer<R>;
}

/** Sends a request and returns its response; throws an `ApiError` for an error of the API. */
export async function send(
  method: string,
  url: string,
  body?: unknown,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  const isRaw = body instanceof Blob;
  const response = await fetch(url, {
    method,
    signal,
    headers: {
      ...headers,
      ...(body === undefined || isRaw ? {} : { "Content-Type": "application/json" }),
      ...(method === "GET" ? {} : { "X-Varve-Request-Token": requestToken.value }),
    },
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
  });
  if (response.ok) return response;
  if (response.status === 401) showLogin();
  throw await readError(response);
}

async function readError(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string; remedy?: string } };
    return new ApiError(response.status, error.code, error.message, error.remedy);
  } catch {
    return new ApiError(response.status, "HTTP", `The gateway answered with the status ${response.status}.`);
  }
}

function fillPath(path: string, params: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

function printQuery(query: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}

/** An error as one or two sentences for people. */
export function explainError(error: unknown): string {
  if (error instanceof ApiError) return [error.message, error.remedy].filter(Boolean).join(" ");
  if (error instanceof TypeError) return "The gateway does not answer.";
  return error instanceof Error ? error.message : String(error);
}
