import { expect, it } from "vitest";
import { findRoot, unifyPaths } from "./paths.ts";
import type { FileLine } from "./work-log.ts";

const file = (path: string): FileLine => ({ path, operation: "edited", edits: 1, lines: { added: 1, removed: 0 } });

it("a file that is named by its full and by a relative path has one line", () => {
  const unified = unifyPaths([file("/srv/ferry/src/a.ts"), file("src/a.ts"), file("./src/a.ts"), file("src/b.ts")]);
  expect(unified).toEqual([
    { ...file("/srv/ferry/src/a.ts"), edits: 3, lines: { added: 3, removed: 0 } },
    file("src/b.ts"),
  ]);
  expect(unifyPaths([file("/srv/ferry/a.ts"), file("a.ts")])).toHaveLength(2);
});

it("the root is the folder of most full paths, when naming it once saves something", () => {
  expect(findRoot(["/srv/ferry/src/a.ts", "/srv/ferry/docs/b.md", "/tmp/x/y.log"])).toBe("/srv/ferry");
  expect(findRoot(["/srv/ferry/src/a.ts"])).toBeUndefined();
  expect(findRoot(["src/a.ts", "src/b.ts"])).toBeUndefined();
  expect(findRoot(["/a.ts", "/b.ts"])).toBeUndefined();
});
