import { describe, expect, it } from "vitest";
import { formatEdit, formatFile, insertLines, replaceText } from "./edits.ts";
import { checkPath } from "./run-file-command.ts";

describe("a file of the memory tool", () => {
  it("is shown with line numbers, whole or in part", () => {
    expect(formatFile("/memories/a", "one\ntwo")).toBe(
      "Here's the content of /memories/a with line numbers:\n     1\tone\n     2\ttwo",
    );
    expect(formatFile("/memories/a", "one\ntwo\nthree", [2, -1])).toContain("     2\ttwo\n     3\tthree");
    expect(() => formatFile("/memories/a", "one", [2, 3])).toThrow(/outside/);
  });

  it("is changed at a unique place only", () => {
    const asked = { path: "/memories/a", old_str: "two", new_str: "2" };
    expect(replaceText("one\ntwo", asked)).toBe("one\n2");
    expect(() => replaceText("one", asked)).toThrow(/did not appear verbatim/);
    expect(() => replaceText("two\ntwo", asked)).toThrow(/in lines: 1, 2/);
    expect(formatEdit("one\n2", "2")).toContain("     2\t2");
  });

  it("accepts lines before its first and after its last line", () => {
    expect(insertLines("b", { insert_line: 0, insert_text: "a\n" })).toBe("a\nb");
    expect(insertLines("a", { insert_line: 1, insert_text: "b" })).toBe("a\nb");
    expect(() => insertLines("a", { insert_line: 2, insert_text: "b" })).toThrow(/\[0, 1\]/);
  });

  it.each([
    "/etc/passwd",
    "/memories/../etc",
    "/memories/./x",
    "/memories/a//b",
    "/memories/%2e%2e/x",
    "/memories\\x",
    "/memoriesx",
    "memories/x",
    "/memories/a\u0000",
  ])("is never at %j", (path) => {
    expect(() => checkPath(path)).toThrow(/is not under/);
  });
});
