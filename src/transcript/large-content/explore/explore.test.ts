import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../../text/index.ts";
import { type Exploration, exploreCharactersMax, exploreText } from "./explore.ts";

const orders = Array.from({ length: 40 }, (_, index) => ({
  id: index,
  placedAt: "2026-03-01T10:00:00Z",
  total: index + 0.5,
  lines: [{ sku: "A-1", quantity: 2 }],
  ...(index % 2 === 0 ? { note: null } : {}),
}));

const table = [
  "id,name,price,day,state",
  ...Array.from(
    { length: 30 },
    (_, index) =>
      `${index},"Rope, ${index}\nlong ""and"" strong",${index}.50,2026-03-${10 + (index % 20)},${index % 2 ? "open" : "closed"}`,
  ),
].join("\n");

const log = Array.from({ length: 200 }, (_, index) => {
  const time = `2026-03-01 10:${String(index % 60).padStart(2, "0")}:00,123`;
  if (index % 50 === 7) return `${time} ERROR [db] Connection to 10.0.0.${index}:5432 refused`;
  return `${time} INFO [worker-${index % 4}] Request 0a1b2c3d${1000 + index} took ${index} ms`;
}).join("\n");

const markdown = `# Harbour plan

The harbour must be dredged before 1 May because the ferry needs a depth of 6 metres.

## Costs

The council decided to spend 40,000 on it. Some people talked about the weather for a while.

\`\`\`ts
export const notAHeading = 1;
import x from "y";
const z = 3;
\`\`\`

Risks
-----

- Storms may delay the work by two weeks in the worst case.
`;

const typescript = `import { readFile } from "node:fs/promises";
import type { Clock } from "./clock.ts";

export interface Options { clock: Clock; retries?: number }

/** Loads it. */
export async function load(path: string, options: Options): Promise<string> {
  const inner = await readFile(path, "utf8");
  return inner;
}

export class Loader<T> extends Base {
  async run(input: T): Promise<void> {}
}
const hidden = (a: number) => a + 1;
`;

const python = `import os, sys
from typing import Any

LIMIT = 3

class Store(Base):
    def get(self, key: str) -> Any:
        return None

async def main(argv: list[str]) -> int:
    return 0

def _helper():
    pass
`;

const rust = `use std::io::{self, Read};
pub struct Reader { inner: u8 }
impl Reader { pub fn open(path: &str) -> io::Result<Self> { todo!() } }
fn helper() {}
pub trait Source { fn next(&mut self) -> Option<u8>; }
`;

const go = `package main

import (
	"fmt"
	"os"
)

type Server struct { Port int }

func (s *Server) Run(args []string) error { return nil }
func helper() { fmt.Println(os.Args) }
`;

const java = `package org.example;
import java.util.List;
public class Foo extends Bar implements Runnable {
  private int count;
  public Foo(int count) { this.count = count; }
  @Override
  public void run() {}
}
`;

const cpp = `#include <vector>
#include "ship.h"
namespace harbour {
class Pier : public Base { public: int berths; };
std::vector<int> depths(int from, const char *name) { return {}; }
}
template <typename T> T most(T a, T b) { return a; }
`;

const c = `#include <stdio.h>
#define MAX 3
typedef struct { int a; } thing;
static int helper(int a, char *b) { return a; }
int main(int argc, char **argv) { return 0; }
`;

const php = `<?php
namespace App\\Http;
use App\\Models\\User;
class Controller extends Base { public function show(int $id): string { return ""; } private function x() {} }
function helper($a) {}
`;

const cases: [string, string, Parameters<typeof exploreText>[1], Exploration["kind"], string[]][] = [
  [
    "JSON",
    JSON.stringify({ orders, next: null, count: 40 }, null, 1),
    {},
    "json",
    [
      "an object with 3 keys",
      "orders: array[40] of {id, placedAt, total, lines, note}",
      "next: null",
      "count: integer",
    ],
  ],
  [
    "an array of JSON",
    JSON.stringify(orders),
    { mediaType: "application/json; charset=utf-8" },
    "json",
    ["an array of 40 elements", "placedAt: date", "total: number", "lines: array[1] of {sku, quantity}", "note?: null"],
  ],
  [
    "JSON lines",
    `${orders.map((order) => JSON.stringify({ type: order.id % 4 ? "order" : "gift", ...order })).join("\n")}\n{"half`,
    {},
    "json",
    ["JSON lines, 41 records, 1 of them broken", "id: integer", "type: order ×30, gift ×10"],
  ],
  [
    "JSON lines that are longer than a look",
    Array.from({ length: 4 }, (_, id) => JSON.stringify({ id, text: "x".repeat(90_000) })).join("\n"),
    {},
    "json",
    ["JSON lines, 4 records", "id: integer, text: string"],
  ],
  [
    "broken JSON",
    '{"name": "x", "list": [1, 2, {"deep": tru',
    {},
    "json",
    ["Broken JSON", "Keys seen: name, list, deep"],
  ],
  ["JSON by its name", "not json at all", { name: "a.json" }, "json", ["Broken JSON", "Fault: Unexpected token"]],
  [
    "CSV with commas and new lines in quotes",
    table,
    {},
    "csv",
    [
      "CSV (comma), 30 rows, 5 columns",
      "id: integer 0–29",
      "name: text",
      "price: number 0.5–29.5",
      "day: date 2026-03-10 to 2026-03-29",
      "state: text (closed, open)",
      'Rope, 15 long "and" strong | 15.50',
    ],
  ],
  [
    "TSV",
    "1\ta\t\n2\tb\t3\n3\tc\t4\n",
    {},
    "csv",
    ["TSV (tab), 3 rows, 3 columns, no header", "column 3: integer 3–4, 33% empty"],
  ],
  [
    "semicolons",
    "a;b\n1,5;x\n2,5;y\n3,5;z\n",
    { name: "x.csv" },
    "csv",
    ["CSV (semicolon), 3 rows", "a: number 1.5–3.5"],
  ],
  ["a CSV whose quote is never closed", 'a,b\n"1,2\n3,4\n5,6', { name: "x.csv" }, "csv", ["a quote is never closed"]],
  [
    "rows of other lengths",
    "a,b\n1,2\n3\n4,5,6\n",
    { mediaType: "text/csv" },
    "csv",
    ["3 rows, 3 columns", "2 rows of another length"],
  ],
  [
    "a log",
    log,
    {},
    "log",
    [
      "Log, 200 lines",
      "error 4, info 196",
      "2026-03-01 10:00:00,123 to 2026-03-01 10:19:00,123",
      "×196 INFO [worker-#] Request # took # ms",
      "Errors: ERROR [db] Connection to # refused",
    ],
  ],
  [
    "an access log",
    Array.from(
      { length: 9 },
      (_, n) => `10.0.0.${n} - - [10/Oct/2025:13:55:0${n} +0000] "GET /x/${n} HTTP/1.1" 200 ${n}`,
    ).join("\n"),
    {},
    "log",
    ["10/Oct/2025:13:55:00 +0000 to 10/Oct/2025:13:55:08 +0000", '"GET /x/# HTTP/#"'],
  ],
  ["a rotated log", "started\nstarted\nstopped\n", { name: "app.log.3" }, "log", ["Log, 3 lines", "×2 started"]],
  [
    "Markdown",
    markdown,
    {},
    "text",
    ["Harbour plan · Costs · Risks", "must be dredged before 1 May", "The council decided to spend 40,000 on it."],
  ],
  [
    "prose without spaces",
    "今天讨论了数据库的迁移。决定使用PostgreSQL数据库。预算是50000元，截止日期为三月。",
    {},
    "text",
    ["决定使用PostgreSQL"],
  ],
  [
    "TypeScript",
    typescript,
    {},
    "code",
    [
      "TypeScript code",
      "Imports: node:fs/promises, ./clock.ts",
      "export interface Options",
      "export async function load(path: string, options: Options): Promise<string>",
      "export class Loader<T> extends Base",
      "async run(input: T): Promise<void>",
      "const hidden",
    ],
  ],
  [
    "TSX",
    "export const App = () => <div>{x}</div>;\nexport default App;",
    { name: "app.tsx" },
    "code",
    ["export const App"],
  ],
  [
    "Python",
    python,
    {},
    "code",
    [
      "Python code",
      "Imports: os, sys, typing",
      "class Store(Base); def get(self, key: str) -> Any; async def main(argv: list[str]) -> int",
      "Internal: def _helper()",
    ],
  ],
  [
    "Rust",
    rust,
    {},
    "code",
    [
      "Rust code",
      "std::io::{self, Read}",
      "pub struct Reader; impl Reader; pub fn open(path: &str) -> io::Result<Self>",
      "pub trait Source",
    ],
  ],
  [
    "Go",
    go,
    {},
    "code",
    [
      "Go code",
      "Imports: fmt, os",
      "type Server; func (s *Server) Run(args []string) error",
      "Internal: func helper()",
    ],
  ],
  [
    "Java",
    java,
    {},
    "code",
    [
      "Java code",
      "java.util.List",
      "public class Foo extends Bar implements Runnable; public Foo(int count)",
      "public void run()",
    ],
  ],
  [
    "C++",
    cpp,
    {},
    "code",
    [
      "C++ code",
      "vector, ship.h",
      "class Pier : public Base",
      "depths(int from, const char *name)",
      "T most(T a, T b)",
    ],
  ],
  ["C", c, {}, "code", ["C code", "stdio.h", "static int helper(int a, char *b); int main(int argc, char **argv)"]],
  [
    "PHP",
    php,
    {},
    "code",
    [
      "PHP code",
      "App\\Models\\User",
      "class Controller extends Base; public function show(int $id): string",
      "Internal: private function x()",
    ],
  ],
  ["code by its media type", "x = 1", { mediaType: "text/x-python" }, "code", ["Python code, 1 line", "Declares: x"]],
  ["blanks", " \n\t ", {}, "text", ["Nothing but blanks"]],
  ["nothing", "", {}, "text", ["Nothing but blanks: 0 characters."]],
];

describe("an exploration summary", () => {
  it.each(cases)("describes %s", (_, text, hints, kind, expected) => {
    const explored = exploreText(text, hints);
    expect(explored.kind).toBe(kind);
    for (const part of expected) expect(explored.summary).toContain(part);
    expect(estimateTokens(explored.summary)).toBeLessThanOrEqual(220);
  });

  it.each<[string, string, Exploration["kind"]]>([
    ["a letter with commas", "Dear Ada,\n\nThank you, it was nice.\nWe went home, then slept.\nSee you, Bob", "text"],
    ["a Markdown table", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", "text"],
    ["a list in brackets", "[2026-01-01] we met\n[2026-01-02] we met again\n", "text"],
    [
      "a table that begins with times",
      "2026-01-01T10:00:00Z,1,ok\n2026-01-01T10:01:00Z,2,ok\n2026-01-01T10:02:00Z,3,ok\n",
      "csv",
    ],
    ["JSON lines in brackets", "[1,2]\n[3,4]\n[5,6]\n", "json"],
    ["one line of JSON", '{"a":1}', "json"],
  ])("does not mistake %s for something else", (_, text, kind) => {
    expect(exploreText(text).kind).toBe(kind);
  });

  it("states when only a part was examined", () => {
    const more = "only the first 2,097,152 were looked at";
    const long = (line: string) => line.repeat(Math.ceil((exploreCharactersMax + 10) / line.length));
    expect(exploreText(`[${long('{"a":1},')}]`).summary).toContain(more);
    expect(exploreText(long("1,2,3\n"), { name: "a.csv" }).summary).toMatch(/349,525 rows, 3 columns.*2,097,152 were/);
    expect(exploreText(long("const a = 1;\n"), { name: "a.js" }).summary).toContain("its first 131,072 were parsed");
    expect(exploreText(long("The sea is calm today. ")).summary).toContain(more);
  });

  it("states how much it omits", () => {
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key_number_${index}`, index]));
    expect(exploreText(JSON.stringify(wide)).summary).toMatch(/an object with 500 keys[\s\S]*\(\+4\d\d more\)$/);
  });

  it.each([
    ["arrays", "[".repeat(400_000) + "]".repeat(400_000)],
    ["open arrays", "[".repeat(400_000)],
    ["objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
  ])("does not overflow the stack on deep %s", (_, text) => {
    expect(exploreText(text, { name: "deep.json" }).kind).toBe("json");
  });

  it("never throws, stays within its budget, and can be stored anywhere, for any input", () => {
    const unit = fc.constantFrom(
      "\0",
      "\ud800",
      "\udc00",
      "\r\n",
      "\n",
      ",",
      "\t",
      '"',
      "{",
      "}",
      "[",
      "]",
      ":",
      "# ",
      "```",
      "(",
      "ERROR ",
      "def f(",
      "<?php ",
      "\u2028",
      "長",
      "\u{1f600}",
      "a",
      "1",
      " ",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.array(unit, { maxLength: 200 }).map((units) => units.join("")),
      fc.array(fc.lorem({ mode: "sentences" }), { maxLength: 40 }).map((lines) => lines.join("\n")),
      fc.json(),
      fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 }).map((codes) => String.fromCharCode(...codes)),
    );
    const name = fc.option(
      fc.constantFrom(
        "a.json",
        "a.jsonl",
        "a.csv",
        "a.tsv",
        "a.log",
        "a.md",
        "a.ts",
        "a.js",
        "a.py",
        "a.rs",
        "a.go",
        "a.java",
        "a.c",
        "a.cpp",
        "a.php",
        "\0",
        ".",
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(text, name, fc.option(fc.string(), { nil: undefined }), (given, called, mediaType) => {
        const { summary } = exploreText(given, { name: called, mediaType });
        expect(estimateTokens(summary)).toBeLessThanOrEqual(220);
        expect(summary.isWellFormed()).toBe(true);
        expect(summary).not.toMatch(/[^\P{Cc}\n]/u);
        expect(summary).not.toContain("Not read");
      }),
      { numRuns: 600 },
    );
  });
});
