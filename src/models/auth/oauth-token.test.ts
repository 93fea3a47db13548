import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { holdTimeouts } from "../../domain/held-timeouts.test-util.ts";
import { type OauthSettings, requestOauthToken } from "./oauth-token.ts";
import { tokenFilePath } from "./token-file.ts";

interface Asked {
  form: Record<string, string>;
  headers: IncomingHttpHeaders;
}

let home: string;
let tokenUrl: string;
let close: () => Promise<void>;
let asked: Asked[];
let used: string[];
let rotates: boolean;
let instead: ((response: ServerResponse) => void) | undefined;
const clock = { time: 1_700_000_000_000, now: () => clock.time };

const answer = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};

/** A token server whose refresh tokens are valid for one exchange: `refresh-0`, `refresh-1` and so on. */
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "varve-oauth-"));
  [asked, used, rotates, instead] = [[], [], true, undefined];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const form = Object.fromEntries(new URLSearchParams(text));
    asked.push({ form, headers: request.headers });
    if (instead) return instead(response);
    const token = form.refresh_token ?? "";
    if (used.includes(token) || !token.startsWith("refresh-")) {
      return answer(response, 400, { error: "invalid_grant", error_description: `${token} was used before` });
    }
    if (rotates) used.push(token);
    answer(response, 200, {
      access_token: `access-${asked.length}`,
      token_type: "Bearer",
      expires_in: 3_600,
      ...(rotates ? { refresh_token: `refresh-${asked.length}` } : {}),
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  tokenUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
});
afterEach(async () => {
  await close();
  rmSync(home, { recursive: true, force: true });
});

const settings = (rest: Partial<OauthSettings> = {}): OauthSettings => ({
  name: "login",
  tokenUrl,
  clientId: "varve client",
  clientAuth: "basic",
  refreshToken: "refresh-0",
  timeoutMs: 600_000,
  home,
  clock,
  ...rest,
});
const ask = async (rest: Partial<OauthSettings> = {}, refused?: string) =>
  (await requestOauthToken(settings(rest), refused)).value;

afterEach(() => vi.restoreAllMocks());

describe("an access token", () => {
  it("is exchanged for a refresh token, stored in a private file, and the next exchange uses the new refresh token", async () => {
    expect(await requestOauthToken(settings({ scope: "chat" }), undefined)).toEqual({
      value: "access-1",
      expiresAt: clock.time + 3_600_000,
      renewAt: clock.time + 3_300_000,
    });
    expect(asked[0]?.form).toEqual({
      grant_type: "refresh_token",
      refresh_token: "refresh-0",
      client_id: "varve client",
      scope: "chat",
    });
    const path = tokenFilePath(home, "login");
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ refreshToken: "refresh-1" });
    expect(await ask(), "a new process finds it").toBe("access-1");
    clock.time += 3_300_001;
    expect(await ask(), "ahead of its expiry").toBe("access-2");
    expect(await ask({}, "access-2"), "when it is rejected").toBe("access-3");
    expect(await ask({}, "access-2"), "meanwhile, by another process").toBe("access-3");
    expect(asked.map(({ form }) => form.refresh_token)).toEqual(["refresh-0", "refresh-1", "refresh-2"]);
    expect(readdirSync(join(home, "auth")).sort()).toEqual(["login.json", "login.json.lock"]);
  });

  it("may come from a refresh token that stays valid", async () => {
    rotates = false;
    await ask();
    await ask({}, "access-1");
    expect(asked.map(({ form }) => form.refresh_token)).toEqual(["refresh-0", "refresh-0"]);
  });

  it("starts over with another refresh token in the settings", async () => {
    await ask();
    expect(await ask({ refreshToken: "refresh-new" })).toBe("access-2");
    expect(asked[1]?.form.refresh_token).toBe("refresh-new");
  });

  it.each([
    ["basic", undefined, `Basic ${Buffer.from("varve+client:se%3Acret").toString("base64")}`],
    ["body", "se:cret", undefined],
  ] as const)("is requested with the client secret in the %s", async (clientAuth, inBody, authorization) => {
    await ask({ clientAuth, clientSecret: "se:cret" });
    expect(asked[0]?.form.client_secret).toBe(inBody);
    expect(asked[0]?.headers.authorization).toBe(authorization);
  });

  it("is requested by one process at a time: no refresh token is used twice", async () => {
    const { clock: _, ...rest } = settings();
    const code = `
      import { requestOauthToken } from ${JSON.stringify(new URL("./oauth-token.ts", import.meta.url).href)};
      const settings = { ...${JSON.stringify(rest)}, clock: { now: () => ${clock.time} } };
      console.log((await requestOauthToken(settings, undefined)).value);`;
    const run = () => promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
    const printed = await Promise.all([run(), run(), run()]);
    expect(printed.map(({ stdout }) => stdout.trim())).toEqual(["access-1", "access-1", "access-1"]);
    expect(asked).toHaveLength(1);
  });
});

describe("when no token is available", () => {
  const fails = async (wanted: object, rest: Partial<OauthSettings> = {}) => {
    const error = await ask(rest).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(wanted);
    expect(JSON.stringify(error) + String(error)).not.toMatch(/refresh-|access-|cret-/);
  };

  it("an expired refresh token is reported, with what to do", async () => {
    used.push("refresh-0");
    await fails({
      code: "MODEL_KEY_REFUSED",
      message: expect.stringContaining("HTTP 400 (invalid_grant: [removed] was used before)"),
      remedy: expect.stringContaining("models.auth.login.oauth.refreshToken"),
    });
  });

  it.each([
    ["a client that is not known", 401, '{"error":"invalid_client"}', "MODEL_KEY_REFUSED", /invalid_client/],
    ["a failure of the server", 500, "<html>access-7 refresh-7</html>", "MODEL_FAILED", /HTTP 500\./],
    ["too many requests", 429, '{"error":"slow_down"}', "MODEL_FAILED", /slow_down/],
    ["an answer without a token", 200, '{"refresh_token":"refresh-7"}', "MODEL_FAILED", /without a token/],
    [
      "a token of another kind",
      200,
      '{"access_token":"access-7","token_type":"mac"}',
      "BAD_CONFIG",
      /unsupported type/,
    ],
    ["a token that is none", 200, '{"access_token":"access-7\\nx: y"}', "MODEL_FAILED", /without a token/],
  ])("%s is distinguished from the others", async (_, status, body, code, message) => {
    instead = (response) => response.writeHead(status).end(body);
    await fails({ code, message: expect.stringMatching(message) }, { clientSecret: "cret-1" });
    const kind = code === "MODEL_FAILED" ? { retry: true, profile: "login" } : undefined;
    if (kind) await fails({ details: kind });
  });

  it("a silent server is not waited for, and a redirect is not followed", async () => {
    const timeouts = holdTimeouts();
    instead = () => timeouts.expireAll();
    await fails({ code: "MODEL_FAILED", message: expect.stringContaining("within 200 ms") }, { timeoutMs: 200 });
    instead = (response) => response.writeHead(307, { location: "/elsewhere" }).end();
    await fails({ code: "MODEL_FAILED", message: expect.stringContaining("cannot be reached") });
    expect(asked).toHaveLength(2);
  });

  it("the old token is used until it expires, and no longer", async () => {
    await ask();
    instead = (response) => response.writeHead(503).end();
    clock.time += 3_400_000;
    expect(await requestOauthToken(settings(), undefined)).toMatchObject({
      value: "access-1",
      renewAt: clock.time + 30_000,
    });
    await expect(ask({}, "access-1"), "it was refused").rejects.toThrow(/HTTP 503/);
    clock.time += 200_001;
    await expect(ask()).rejects.toThrow(/HTTP 503/);
  });

  it("a file that is broken, or that others can read, is rejected", async () => {
    await ask();
    const path = tokenFilePath(home, "login");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.slice(0, -20));
    await fails({ code: "BAD_FILE", remedy: expect.stringContaining("log in again") });
    writeFileSync(path, text);
    if (process.platform === "win32") return;
    chmodSync(path, 0o644);
    await fails({ code: "REFUSED" });
  });
});
