import fc from "fast-check";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";
import { readMember, removeMember, replaceMember, setMember } from "./json-edit.ts";

const path = ["mcpServers", "varve"];
const value = { command: "varve", args: ["mcp"] };

test.each([
  ["an empty object", "{}"],
  ["no servers", '{\n  "theme": "dark"\n}\n'],
  ["other servers", '{\n\t"mcpServers": {\n\t\t"x": {"command": "x", "args": ["}", "\\""]}\n\t},\n\t"z": 1\n}'],
  ["one line", '{"mcpServers":{"x":{}},"y":[1,2,{"a":null}]}'],
  ["no servers yet", '{"mcpServers": {}, "b": true}'],
  ["comments", '{\n  // mine\n  "mcpServers": {\n    "x": {} /* last */ // one\n  },\n  "z": 1, // end\n}\n'],
])("what is set can be taken away to the last byte: %s", (_, text) => {
  const { text: edited, made } = setMember(text, path, value);
  expect(parse(edited)).toMatchObject({ ...parse(text), mcpServers: { varve: value } });
  expect(setMember(edited, path, value)).toEqual({ text: edited, made: 0 });
  expect(removeMember(edited, path, made)).toBe(text);
});

test("a value of somebody else's is replaced, and put back", () => {
  const text = '{"mcpServers": {"varve": {"command":   "mine"}, "x": 1}}';
  const edited = setMember(text, path, value);
  expect(edited.replaced).toBe('{"command":   "mine"}');
  expect(JSON.parse(readMember(edited.text, path) ?? "")).toEqual(value);
  expect(replaceMember(edited.text, path, edited.replaced ?? "")).toBe(text);
});

test("a member in the middle or at the beginning leaves its neighbours valid", () => {
  const text = '{"mcpServers": {"a": 1, "varve": 2, "b": 3}}';
  expect(JSON.parse(removeMember(text, path, 0))).toEqual({ mcpServers: { a: 1, b: 3 } });
  expect(removeMember('{"mcpServers": {"varve": 2, "b": 3}}', path, 0)).toBe('{"mcpServers": {"b": 3}}');
});

test("comments between members stay when one of them is removed", () => {
  const text = '{"mcpServers": {"a": 1, // about a, really\n  "varve": 2, /* about b */ "b": 3}}';
  const removed = removeMember(text, path, 0);
  expect(parse(removed)).toEqual({ mcpServers: { a: 1, b: 3 } });
  expect(removed).toContain("// about a, really\n");
  expect(removed).toContain("/* about b */");
});

test("any JSON keeps its bytes", () => {
  const servers = fc.record({ mcpServers: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }) });
  const other = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 });
  fc.assert(
    fc.property(fc.oneof(servers, other), fc.constantFrom(undefined, 2, 4, "\t"), (json, indent) => {
      const text = JSON.stringify(json, null, indent);
      const parsed = JSON.parse(text) as { mcpServers?: unknown };
      const current = parsed.mcpServers;
      fc.pre(current === undefined || (typeof current === "object" && current !== null && !Array.isArray(current)));
      fc.pre(!Object.hasOwn((current ?? {}) as object, "varve"));
      const { text: edited, made } = setMember(text, path, value);
      expect((JSON.parse(edited) as { mcpServers: { varve: unknown } }).mcpServers.varve).toEqual(value);
      expect(removeMember(edited, path, made)).toBe(text);
    }),
  );
});
