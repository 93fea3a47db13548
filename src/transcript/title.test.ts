import { expect, it } from "vitest";
import { makeTitle } from "./title.ts";

it.each([
  ["please sort the ferry timetable by departure. It is in table.ts.", "Sort the ferry timetable by departure"],
  ["ok, now paint the buoys green", "Paint the buoys green"],
  ["请把渡轮时刻表按出发时间排序。然后告诉我。", "请把渡轮时刻表按出发时间排序"],
  ["<system-reminder>Be brief.</system-reminder>\nCount the lanterns of the pier", "Count the lanterns of the pier"],
  ["Why does this fail?\n```\nconst a = 1;\n```", "Why does this fail?"],
  ["hello", undefined],
  ["yes", undefined],
  ["/clear", undefined],
  ["", undefined],
  ["<local-command-stdout>one two three four</local-command-stdout>", undefined],
])("the title of %j is %j", (text, title) => {
  expect(makeTitle(text)).toBe(title);
});

it("a title has at most 72 characters and no half ones", () => {
  for (const text of ["a".repeat(400), `one two ${"😀".repeat(200)}`, "word ".repeat(100), "船".repeat(300)]) {
    const title = makeTitle(`${text} and more of it`) ?? "";
    expect(title.length).toBeLessThanOrEqual(72);
    expect(title.isWellFormed()).toBe(true);
  }
});
