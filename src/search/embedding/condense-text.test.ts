import { expect, test } from "vitest";
import { condenseText } from "./condense-text.ts";

test("tool output becomes its beginning and end", () => {
  const text = `npm test\n${"ok 1 - passes\n".repeat(500)}1 test failed: login`;
  const short = condenseText("tool", text);
  expect(short.length).toBeLessThan(700);
  expect(short).toContain("npm test");
  expect(short).toContain("1 test failed: login");
});

test("code blocks keep their first lines, prose stays", () => {
  const code = Array.from({ length: 50 }, (_, index) => `const value${index} = ${index};`).join("\n");
  const short = condenseText("assistant", `Here is the fix for the cache.\n\`\`\`ts\n${code}\n\`\`\`\nIt works now.`);
  expect(short).toContain("Here is the fix for the cache.");
  expect(short).toContain("const value3");
  expect(short).not.toContain("const value4 ");
  expect(short).toContain("It works now.");
});

test("repeated lines are kept once, and long lines of data are cut", () => {
  expect(condenseText("user", "again\nagain\nagain")).toBe("again");
  expect(condenseText("user", `look: ${"a".repeat(5_000)}`)).toHaveLength(1_000);
  const prose = "This is a long line of plain words that people write. ".repeat(40);
  expect(condenseText("user", prose)).toBe(prose);
});

test("a text of code only is kept as it is", () => {
  expect(condenseText("user", "```\n```")).toBe("```\n```");
});
