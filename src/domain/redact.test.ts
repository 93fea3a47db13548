import { expect, test } from "vitest";
import { redactSecrets } from "./redact.ts";

const letters = (count: number) => "aB3dE6gH9".repeat(10).slice(0, count);

test.each([
  ["Anthropic", `sk-ant-api03-${letters(40)}`],
  ["OpenAI", `sk-proj-${letters(40)}`],
  ["GitHub", `ghp_${letters(36)}`],
  ["AWS", `AKIA${"ABCD1234".repeat(2)}`],
  ["Google", `AIza${letters(35)}`],
  ["Slack", `xoxb-${letters(24)}`],
  ["Hugging Face", `hf_${letters(34)}`],
  ["a private key", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----"],
])("a secret of %s is removed completely", (_kind, secret) => {
  const clean = redactSecrets(`before ${secret} after`);
  expect(clean).not.toContain(secret.slice(10, 30));
  expect(clean).toMatch(/^before \[.+ removed\] after$/);
});

test("ordinary words are kept", () => {
  const text = "sk-learn, a risk-averse task-force, AKIAland, desk-top eyJust.eyWords";
  expect(redactSecrets(text)).toBe(text);
});
