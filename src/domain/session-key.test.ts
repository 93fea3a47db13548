import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getResetType, parseSessionKey, printSessionKey, printStoredKey, type SessionKey } from "./session-key.ts";

const reserved = ["agent", "cron", "hook", "direct", "dm", "subagent", "group", "channel", "room"];
const word = fc.stringMatching(/^[a-z0-9][a-z0-9_.@+-]{0,12}$/).filter((text) => !reserved.includes(text));
const programId = fc
  .stringMatching(/^[a-z0-9!][a-z0-9_.@:+-]{0,16}[a-z0-9]$/)
  .filter((text) => !/:(thread|topic|run):/.test(text) && !/^(thread|topic|run):/.test(text));
/** Separators, words of the structure, blanks, escapes, and letters that look alike or fold to others. */
const piece = fc.constantFrom(
  ...[
    ...reserved,
    "thread",
    "topic",
    "run",
    "main",
    "global",
    "THREAD",
    "Thread",
    "a",
    "A",
    "k",
    "K",
    "\u212a",
    "ſ",
    "s",
  ],
  ...[
    ":",
    "%",
    "%3A",
    "%3a",
    "%25",
    " ",
    "\t",
    "\u00a0",
    "\u200b",
    "\ufeff",
    "İ",
    "ı",
    "ß",
    "é",
    "e\u0301",
    "аnn",
    "@bob:server.org",
  ],
);
const id = fc.oneof(
  fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", minLength: 1, maxLength: 12 }).filter((text) => text.isWellFormed()),
);
const channel = fc.oneof(
  word,
  fc.constantFrom(...reserved, "telegram", "main", "cli", "pi", "proxy", "my channel", "a:b"),
);
const thread = fc.record({ type: fc.constantFrom("thread" as const, "topic" as const), id });
const key: fc.Arbitrary<SessionKey> = fc.oneof(
  fc.record(
    { kind: fc.constant("main" as const), agent: word, name: word, thread },
    { requiredKeys: ["kind", "agent", "name"] },
  ),
  fc.record(
    {
      kind: fc.constant("direct" as const),
      agent: word,
      channel,
      peer: id,
      isNamesake: fc.constant(true as const),
      thread,
    },
    { requiredKeys: ["kind", "agent", "peer"] },
  ),
  fc.record({ kind: fc.constant("direct" as const), agent: word, channel, account: id, peer: id }),
  fc.record(
    {
      kind: fc.constant("group" as const),
      agent: word,
      channel,
      room: fc.constantFrom("group" as const, "channel" as const, "room" as const),
      id,
      thread,
    },
    { requiredKeys: ["kind", "agent", "channel", "room", "id"] },
  ),
  fc.record({ kind: fc.constant("subagent" as const), agent: word, id: programId }),
  fc.record(
    { kind: fc.constant("cron" as const), agent: word, jobId: programId, runId: programId },
    { requiredKeys: ["kind", "jobId"] },
  ),
  fc.record({ kind: fc.constant("hook" as const), agent: word, id: programId }, { requiredKeys: ["kind", "id"] }),
  fc.constant({ kind: "global" as const }),
  fc.record({ kind: fc.constant("pair" as const), channel, userId: id }),
);

describe("a session key", () => {
  test("prints to a string that parses to the same value", () => {
    fc.assert(
      fc.property(key, (value) => {
        expect(parseSessionKey(printSessionKey(value))).toEqual(value);
      }),
      { numRuns: 2000 },
    );
  });

  test("any text either fails with BAD_KEY or has one normal form", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc
            .array(
              fc.constantFrom(
                ...["agent", "main", "direct", "dm", "group", "x", "Y", "", "thread", "cron", "hook", "run", "global"],
                "a b",
              ),
              { maxLength: 8 },
            )
            .map((parts) => parts.join(":")),
        ),
        (text) => {
          let parsed: SessionKey;
          try {
            parsed = parseSessionKey(text);
          } catch (error) {
            expect(error).toMatchObject({ code: "BAD_KEY", exitCode: 2 });
            return;
          }
          const printed = printSessionKey(parsed);
          expect(parseSessionKey(printed)).toEqual(parsed);
          expect(printSessionKey(parseSessionKey(printed))).toBe(printed);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test.each([
    ["Agent:Main:Telegram:Direct:ABC", "agent:main:telegram:direct:ABC"],
    ["agent:main:email:direct:Ann@Example.org", "agent:main:email:direct:ann@example.org"],
    ["agent:main:signal:group:AbC=", "agent:main:signal:group:AbC="],
    ["agent:main:matrix:room:!AbC:server.org", "agent:main:matrix:room:!AbC%3Aserver.org"],
    ["agent:main:slack:channel:C42:thread:99", "agent:main:slack:channel:C42:thread:99"],
    ["telegram:a b", "telegram:a%20b"],
    ["telegram:5054873275", "telegram:5054873275"],
    ["cron:nightly:run:7", "cron:nightly:run:7"],
    ["agent:main:cron:Nightly:run:7", "agent:main:cron:nightly:run:7"],
    ["agent:Main:hook:ABC", "agent:main:hook:abc"],
    ["agent:main:telegram:dm:777", "agent:main:telegram:direct:777"],
    ["agent:main:dm:777", "agent:main:direct:777"],
    ["agent:main:telegram:home:dm:777", "agent:main:telegram:home:direct:777"],
    ["agent:main:main:thread:77", "agent:main:main:thread:77"],
    ["global", "global"],
  ])("%s is normalised to %s", (given, kept) => {
    expect(printSessionKey(parseSessionKey(given))).toBe(kept);
  });

  test.each([
    ["", "has no colon"],
    ["agent:", "the agent id is empty"],
    ["agent:main", "the part after the agent is empty"],
    ["agent:main:direct:", "the peer is empty"],
    ["agent:main:telegram:what:x", '"what"'],
    ["agent:main:telegram:group:", "the group id is empty"],
    ["hook:", "the hook id is empty"],
    ["telegram:\ud800", "the user id"],
    [`x:${"y".repeat(600)}`, "longer than 512"],
  ])("%j is an error that names the invalid part", (given, part) => {
    expect(() => parseSessionKey(given)).toThrow(part);
  });

  test("the agent of a job or a hook is stored next to the key, not in it", () => {
    expect(printStoredKey(parseSessionKey("agent:work:cron:nightly"))).toBe("cron:nightly");
    expect(printStoredKey(parseSessionKey("agent:work:hook:abc"))).toBe("hook:abc");
    expect(printStoredKey(parseSessionKey("agent:work:main"))).toBe("agent:work:main");
  });

  test("a thread has its own reset type", () => {
    expect(getResetType(parseSessionKey("agent:a:main:thread:1"))).toBe("thread");
    expect(getResetType(parseSessionKey("agent:a:s:group:g:topic:1"))).toBe("thread");
    expect(getResetType(parseSessionKey("agent:a:s:room:g"))).toBe("group");
  });
});
