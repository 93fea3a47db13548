import { expect, test } from "vitest";
import { endsInString, tablesNamed } from "./toml-table.ts";

const path = ["mcp_servers", "varve"];

test("a table goes from its header to the next one that is not below it", () => {
  const own = '[mcp_servers."varve"] # x\ncommand = "varve"\n\n[mcp_servers.varve.env]\nA = "b"\n\n';
  const text = `a = 1\n[mcp_servers.varved]\nb = 2\n${own}[[other]]\nc = [\n  [1],\n]\n`;
  expect(tablesNamed(text, path)).toEqual([own]);
});

test("what looks like a header in a string is none", () => {
  const own = '[mcp_servers.varve]\nargs = ["""a\n[x]"""]\n';
  expect(tablesNamed(`${own}[y]\n`, path)).toEqual([own]);
  expect(tablesNamed("a = '''\n[mcp_servers.varve]\n'''\n", path)).toEqual([]);
});

test("tables of one name in two places are both found", () => {
  expect(tablesNamed("[mcp_servers.varve]\n[b]\n[mcp_servers.varve.env]\nx = 1", path)).toHaveLength(2);
  expect(tablesNamed("", path)).toEqual([]);
});

test("a string that is left open is told", () => {
  expect(endsInString('a = """b\n')).toBe(true);
  expect(endsInString(`a = """b'''c\n"""\nd = '''\n'''`)).toBe(false);
});
