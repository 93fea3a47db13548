import { describe, expect, test } from "vitest";
import { maySend, type SendPolicySettings } from "./send-policy.ts";

const settings: SendPolicySettings = {
  default: "allow",
  rules: [
    { action: "allow", match: { channel: "slack" } },
    { action: "deny", match: { chatType: "group" } },
    { action: "deny", match: { keyPrefix: "cron:" } },
  ],
};

describe("the send policy", () => {
  test.each([
    ["agent:a:slack:direct:x", undefined, true],
    ["agent:a:slack:group:x", undefined, false],
    ["cron:nightly", undefined, false],
    ["cron:nightly", "allow", true],
    ["agent:a:irc:direct:x", undefined, true],
    ["agent:a:irc:direct:x", "deny", false],
  ])("of %s with override %s allows: %s", (key, sendPolicy, allowed) => {
    expect(maySend(settings, { key, sendPolicy })).toMatchObject({ allowed, because: expect.any(String) });
  });

  test("falls back to its default", () => {
    expect(maySend({ default: "deny", rules: [] }, { key: "hook:1" }).allowed).toBe(false);
  });
});
