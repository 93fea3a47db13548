import { expect, it } from "vitest";
import { describeKey, sessionTitle } from "./session-title.ts";

it.each([
  ["agent:main:main", "Main session"],
  ["agent:main:telegram:direct:505", "Direct chat with 505 on telegram"],
  ["agent:main:slack:channel:general", "Channel general on slack"],
  ["agent:main:claude-code:direct:1af7fc5e-8455-4414-9ccd-011d40f70b2a", "claude-code session 1af7fc5e"],
  ["agent:main:subagent:7", "Sub-agent 7"],
  ["agent:main:bench", "Bench"],
])("says in words what %s is", (key, words) => expect(describeKey(key)).toBe(words));

it("prefers the name of a session", () => {
  expect(sessionTitle({ key: "agent:main:main", displayName: "Plans" })).toBe("Plans");
  expect(sessionTitle({ key: "agent:main:main", displayName: "  ", subject: undefined })).toBe("Main session");
});
