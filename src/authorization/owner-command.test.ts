import { expect, test } from "vitest";
import { printOwnerCommand } from "./owner-command.ts";

test("the command that makes somebody the owner survives a shell, whatever the id is", () => {
  expect(printOwnerCommand({ channel: "telegram", peer: "5054873275" })).toBe("varve owner add telegram 5054873275");
  expect(printOwnerCommand({ peer: "ann" }, "work")).toBe("varve owner add --agent work local ann");
  expect(printOwnerCommand({ channel: "app", peer: "Ann O'Neill; rm -rf ~" })).toBe(
    "varve owner add app 'Ann O'\\''Neill; rm -rf ~'",
  );
  expect(printOwnerCommand({ channel: "app", peer: "$(id)" })).toBe("varve owner add app '$(id)'");
  expect(printOwnerCommand({ channel: "app", peer: "a\nb'\u202e\x1b" })).toBe(
    "varve owner add app $'a\\u000ab\\'\\u202e\\u001b'",
  );
  expect(printOwnerCommand({ channel: "telegram", peer: "-100" })).toBe("varve owner add -- telegram -100");
});
