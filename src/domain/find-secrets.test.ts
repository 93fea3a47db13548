import { describe, expect, it } from "vitest";
import { findSecrets } from "./find-secrets.ts";

/** Written in parts, so that scanners of this repository do not take it for a real one. */
const providerKey = ["sk", "ant", "api03", "aB3dE6".repeat(6)].join("-");
const pick = (text: string) => findSecrets(text).map(({ start, end }) => text.slice(start, end));

describe("credentials in a text", () => {
  it.each([
    [providerKey, `ANTHROPIC_API_KEY=${providerKey}`],
    ["ghp_0123456789abcdefghijABCDEFGHIJ012345", "use ghp_0123456789abcdefghijABCDEFGHIJ012345 please"],
    ["AKIAIOSFODNN7EXAMPLE", '{"key": "AKIAIOSFODNN7EXAMPLE"}'],
    ["hunter2Xy9!qq", "my password is hunter2Xy9!qq"],
    ["Zk29dk3LlQ8s7Tn4", "client_secret: 'Zk29dk3LlQ8s7Tn4'"],
    ["c0ffee12-77aa-4be1-9d2e-aa11bb22cc33", "Authorization: Bearer c0ffee12-77aa-4be1-9d2e-aa11bb22cc33"],
  ])("%s is found", (secret, text) => {
    expect(pick(text)).toEqual([secret]);
  });

  it("a private key is found whole", () => {
    const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----";
    expect(pick(`here:\n${key}\nthanks`)).toEqual([key]);
  });

  it.each([
    "The password is in the safe.",
    "Set the token limit to 8000 and the key is documented.",
    "const token = process.env.TOKEN;",
    `secret: $${"{SECRET_NAME_1}"}`,
    "The secret of 1999 is out.",
    "tokens: 128000, key: value1, password: see /etc/passwd.d/file1",
    "api_key=YOUR_API_KEY",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
  ])("nothing is found in %s", (text) => {
    expect(pick(text)).toEqual([]);
  });

  it("takes time in proportion to the text", () => {
    for (const text of ["password ".repeat(20_000), `password${" ".repeat(200_000)}`, "key=".repeat(50_000)]) {
      expect(findSecrets(text).length).toBeLessThanOrEqual(text.length);
    }
  });
});
