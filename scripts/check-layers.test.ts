import { describe, expect, test } from "vitest";
import { checkLayers } from "./check-layers.ts";

/** The violations of a source tree given as path and text, printed as the script prints them. */
function check(files: Record<string, string>): string[] {
  const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
  return checkLayers(sources).map(({ path, line, message }) => `${path}:${line}: ${message}`);
}

describe("the layers of src", () => {
  test("let a module import the modules below it through their index", () => {
    expect(
      check({
        "domain/ids.ts": 'import type { Clock } from "./clock.ts";\n',
        "store/open.ts":
          'import { newId } from "../domain/index.ts";\nimport { loadConfig } from "../config/index.ts";\n',
        "store/sqlite/writer.ts":
          'import { open } from "../open.ts";\nimport { VarveError } from "../../domain/index.ts";\n',
        "engine.ts": 'import { openStore } from "./store/index.ts";\n',
        "cli/start.ts":
          'import { openVarve } from "../index.ts";\nimport { serve } from "../http/index.ts";\nimport { tools } from "../tools/index.ts";\n',
      }),
    ).toEqual([]);
  });

  test("refuse an import upwards, with its line", () => {
    expect(check({ "store/a.ts": '\nimport {\n  x,\n} from "../session/index.ts";\n' })).toEqual([
      "store/a.ts:2: imports session/index.ts: session comes after store; hand it in as an argument, or move it down",
    ]);
  });

  test("refuse neighbours of one step", () => {
    expect(check({ "session/a.ts": 'export { x } from "../search/index.ts";\n' })).toEqual([
      "session/a.ts:1: imports search/index.ts: session and search are neighbours in one step; move what they share down",
    ]);
  });

  test("refuse to reach past an index, in tests too", () => {
    const fault = /other modules are imported through their index.ts only/;
    expect(check({ "session/a.ts": 'import { x } from "../store/sqlite/index.ts";\n' })[0]).toMatch(fault);
    expect(check({ "session/a.test.ts": 'import { x } from "../store/open.ts";\n' })[0]).toMatch(fault);
  });

  test("let tests, and nothing else, use a helper for tests of another module", () => {
    const text = 'import { x } from "../store/a.test-util.ts";\n';
    expect(check({ "session/a.test.ts": text })).toEqual([]);
    expect(check({ "session/a.ts": text })).toHaveLength(1);
  });

  test("see dynamic imports and types written as imports", () => {
    const text = 'const a = await import("../turn/index.ts");\nlet b: import("../jobs/index.ts").Job;\n';
    expect(check({ "store/a.ts": text }).map((line) => line.slice(0, 35))).toEqual([
      "store/a.ts:1: imports turn/index.ts",
      "store/a.ts:2: imports jobs/index.ts",
    ]);
  });

  test("do not take comments for imports", () => {
    const text =
      '/**\n * import { x } from "../turn/index.ts";\n */\n// import("../turn/index.ts")\nexport const a = 1;\n';
    expect(check({ "store/a.ts": text })).toEqual([]);
  });

  test("let a test use modules above its own", () => {
    expect(check({ "store/a.test.ts": 'import { openVarve } from "../index.ts";\n' })).toEqual([]);
  });

  test("keep surfaces above the engine and apart from each other", () => {
    expect(check({ "http/a.ts": 'import { openStore } from "../store/index.ts";\n' })[0]).toMatch(
      /surfaces import only/,
    );
    expect(check({ "mcp/a.ts": 'import { serve } from "../http/index.ts";\n' })[0]).toMatch(/another surface/);
    expect(check({ "engine.ts": 'import { serve } from "./http/index.ts";\n' })[0]).toMatch(/http comes after engine/);
  });

  test("keep domain free of packages, in its tests not", () => {
    expect(check({ "domain/a.ts": 'import { z } from "zod";\n', "domain/a.test.ts": 'import "vitest";\n' })).toEqual([
      "domain/a.ts:1: imports zod: domain imports nothing outside itself; move what needs it up a module",
    ]);
  });

  test("name a module that has no place in the order", () => {
    expect(check({ "attic/a.ts": 'import { x } from "../domain/index.ts";\n' })[0]).toMatch(
      /module attic has no place/,
    );
  });

  test("find a cycle between files of one module", () => {
    const files = {
      "store/a.ts": 'import { b } from "./b.ts";\n',
      "store/b.ts": 'import { c } from "./c.ts";\n',
      "store/c.ts": '\nimport type { A } from "./a.ts";\n',
    };
    expect(check(files)).toEqual([
      "store/c.ts:2: imports store/a.ts: that closes a cycle (store/a.ts → store/b.ts → store/c.ts → store/a.ts); move what both need into a file of its own",
    ]);
  });

  test("allow an index to pass on types by star, and values only by name", () => {
    expect(check({ "domain/index.ts": 'export type * from "./part.ts";\n' })).toEqual([]);
    expect(check({ "domain/index.ts": '\nexport * from "./part.ts";\n' })[0]).toMatch(
      /^domain\/index.ts:2: .*list the/,
    );
  });

  test("allow 600 lines and no more", () => {
    expect(check({ "store/a.ts": "\n".repeat(600) })).toEqual([]);
    expect(check({ "store/a.ts": "\n".repeat(601) })[0]).toMatch(/has 601 lines/);
  });
});
