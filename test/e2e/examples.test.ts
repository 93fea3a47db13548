/** Every program in `examples/` runs as it is, against the built package, and prints what is written here. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const printed: Record<string, string[]> = {
  "memory.ts": [
    "session: The staging server moved to rack 14. [msg#3]",
    "memory: The vault code is 4711.",
    "Bob finds 0",
    "2 messages",
  ],
  "responder.ts": [
    "From the history:",
    "- My flight to Lisbon is on Friday at 7.",
    "Kept: I prefer the aisle seat.",
    "Bob hears of Ann: false",
    "Bob hears of Ann: false",
  ],
  "sessions.ts": [
    "assistant: Noted. From which airport?",
    "user: From Lisbon.",
    "telegram:5054873275: 3 messages, 1 compaction",
    "a new session: true, compactions kept: 1",
  ],
  "use-chat.ts": [
    "ann, user: Remember that my flight is on Friday.",
    "ann, assistant: I will remember that.",
    "In another chat of Ann, the model knows: true",
    "In a chat of Bob, the model knows: false",
    "bob, user: When is my flight?",
    "bob, assistant: I will remember that.",
    "Without a login: 401",
  ],
};

test("there is an expectation for every example", () => {
  expect(
    readdirSync(join(root, "examples"))
      .filter((file) => file.endsWith(".ts"))
      .sort(),
  ).toEqual(Object.keys(printed).sort());
});

test.each(Object.entries(printed))("%s prints what it should", async (file, lines) => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "examples", file)], { cwd: root });
  expect(stdout.trim().split("\n")).toEqual(lines);
});
