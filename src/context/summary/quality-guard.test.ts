import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkSummary, findIdentifiers, type GuardInput } from "./quality-guard.ts";

const sources =
  "User: please move the queue to PostgreSQL on db.internal:5432. Assistant: edited src/queue/open.ts for PROJ-481. ".repeat(
    20,
  );
const good =
  "[2024-05-08 12:00] The user asked to move the queue to PostgreSQL on db.internal:5432; it was done for PROJ-481 and the tests pass.\nFiles: src/queue/open.ts (edited)\nExpand for details about: the test output";
const input: GuardInput = {
  content: good,
  sources,
  kind: "leaf",
  depth: 0,
  targetTokens: 200,
  inputTokens: 600,
  latestUserRequest: "Please move the queue to PostgreSQL",
};
const faultsOf = (fields: Partial<GuardInput>) => checkSummary({ ...input, ...fields }).faults.join("\n");

describe("the quality guard", () => {
  it("lets a good summary pass", () => {
    expect(checkSummary(input)).toEqual({ ok: true, faults: [] });
  });

  it("wants the line about files and the expand line at the end", () => {
    expect(faultsOf({ content: good.replace(/\nFiles:.*/, "") })).toContain("Files: none");
    expect(faultsOf({ content: `${good}\nThe end.` })).toContain("last line");
  });

  it("names identifiers that are missing", () => {
    expect(faultsOf({ content: good.replace("db.internal:5432", "the database") })).toContain("db.internal:5432");
  });

  it("wants the newest request reflected", () => {
    expect(faultsOf({ latestUserRequest: "Book flights to Lisbon for Saturday" })).toContain("Book flights");
  });

  it("bounds the length at both ends", () => {
    expect(faultsOf({ inputTokens: 20 })).toContain("shorten it");
    expect(faultsOf({ targetTokens: 10 })).toContain("at most 30");
    expect(faultsOf({ content: "Files: none\nExpand for details about: all", sources: "" })).toContain("leaves out");
    expect(faultsOf({ content: "  \n" })).toBe("The summary is empty.");
  });

  it("finds refusals, remarks, instructions, garbage and copies", () => {
    const tail = good.slice(good.indexOf("\n"));
    expect(faultsOf({ content: `I'm sorry, but I can't do that.${tail}` })).toContain("refusal");
    expect(faultsOf({ content: `Sure! Here is the summary:\n${good}` })).toContain("remark");
    expect(faultsOf({ content: `Please provide the messages you want summarised.${tail}` })).toContain("instruction");
    expect(faultsOf({ content: `${"la la ".repeat(80)}${tail}` })).toContain("repeats itself");
    expect(faultsOf({ content: `${"@#$%^&".repeat(80)}${tail}` })).toContain("not readable");
    expect(faultsOf({ content: `${sources.slice(0, 700)}${tail}` })).toContain("copies");
  });

  it("finds another language, by script and by small words", () => {
    const chinese = "用户要求把队列迁移到新的数据库，我们完成了这个任务并且测试全部通过，没有发现任何问题。";
    expect(
      faultsOf({ content: `${chinese}\n${good.slice(good.indexOf("Files"))}`, sources: chinese.repeat(5) }),
    ).not.toContain("It is in");
    expect(faultsOf({ content: chinese.repeat(4) })).toContain("It is in Chinese; the conversation is in Latin");
    const english =
      "The user said that it is the plan and that this was done with the help of the team for the release. ".repeat(4);
    const german =
      "Der Nutzer hat gesagt, das ist der Plan und es wurde nicht mit dem Team auf der Liste und auch sich selbst. ".repeat(
        4,
      );
    expect(faultsOf({ content: german, sources: english })).toContain("It is in German");
  });

  it("takes any text without failing", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat({ max: 500 }), (content, text, targetTokens) => {
        const { ok, faults } = checkSummary({ ...input, content, sources: text, targetTokens });
        expect(ok).toBe(faults.length === 0);
      }),
    );
  });
});

describe("identifiers", () => {
  it("are found by their form, the most frequent first", () => {
    const text =
      "see https://a.example/x?y=1, call_01ab at 10.0.0.7:80; /srv/app/a.ts a1b2c3d4 v1.2.3 #482 me@a.example. /srv/app/a.ts";
    const found = findIdentifiers(text, 20).map(({ identifier }) => identifier);
    expect(found[0]).toBe("/srv/app/a.ts");
    expect(new Set(found)).toEqual(
      new Set([
        "https://a.example/x?y=1",
        "call_01ab",
        "10.0.0.7:80",
        "/srv/app/a.ts",
        "a1b2c3d4",
        "v1.2.3",
        "#482",
        "me@a.example",
      ]),
    );
  });

  it("are not words, dates or plain numbers", () => {
    expect(findIdentifiers("and/or defaced 2024 12:30 e.g. well-known facade 3.14", 20)).toEqual([]);
  });
});
