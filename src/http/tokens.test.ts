import { expect, it } from "vitest";
import { hasRight } from "../authorization/index.ts";
import { systemRandom } from "../domain/index.ts";
import { createLogins, loginCodeMs } from "./logins.ts";
import { configuredTokens, hashSecret, identify } from "./tokens.ts";

const sha256 = (text: string): string => `sha256:${hashSecret(text).toString("hex")}`;

it("knows tokens by their hash or by a variable, until they expire", () => {
  const tokens = configuredTokens(
    [
      { name: "hashed", token: sha256("h"), rights: ["read"], agent: "Work", expiresAt: "2027-01-31" },
      { name: "variable", token: "env:T", rights: ["admin"] },
    ],
    { T: "v" },
  );
  const end = Date.parse("2027-01-31");
  expect(identify(tokens, "h", end - 1)).toMatchObject({ principal: { name: "hashed", agents: ["work"] } });
  expect(identify(tokens, "h", end)).toEqual({ fault: "expired" });
  expect(identify(tokens, "v", end)).toMatchObject({ principal: { name: "variable" } });
  for (const wrong of ["", "H", "env:T", sha256("h")]) expect(identify(tokens, wrong, 0)).toEqual({ fault: "unknown" });
});

it("refuses a variable that is empty, since its token would be known to all", () => {
  const setting = [{ name: "t", token: "env:T", rights: ["read" as const] }];
  for (const env of [{}, { T: "" }]) expect(() => configuredTokens(setting, env)).toThrow(/T, which is empty/);
});

it("takes admin for everything, and write not for read", () => {
  const principal = (right: "read" | "write" | "admin") => ({ name: "x", rights: new Set([right]) });
  expect(hasRight(principal("admin"), "read") && hasRight(principal("admin"), "write")).toBe(true);
  expect(
    hasRight(principal("write"), "read") ||
      hasRight(principal("read"), "write") ||
      hasRight(principal("write"), "admin"),
  ).toBe(false);
});

it("logs a browser in once for each code, within a minute, for a week", () => {
  let now = 1_000_000;
  const logins = createLogins({ now: () => now }, systemRandom, { load: () => [], save: () => undefined });
  const [used, late] = [logins.createCode(), logins.createCode()];
  const login = logins.redeem(used);
  expect(logins.redeem(used)).toBeUndefined();
  expect(logins.redeem("")).toBeUndefined();
  expect(logins.identify(used)).toEqual({ fault: "unknown" });
  now += loginCodeMs;
  expect(logins.redeem(late)).toBeUndefined();
  expect(logins.identify(login?.secret ?? "")).toHaveProperty("principal");
  now += (login?.maxAgeSeconds ?? 0) * 1000;
  expect(logins.identify(login?.secret ?? "")).toEqual({ fault: "expired" });
});

it("keeps a bounded number of codes, the newest", () => {
  const logins = createLogins({ now: () => 0 }, systemRandom, { load: () => [], save: () => undefined });
  const codes = Array.from({ length: 30 }, () => logins.createCode());
  expect(codes.filter((code) => logins.redeem(code))).toEqual(codes.slice(-20));
});
