import { describe, expect, it } from "vitest";
import { anthropicFormat } from "./anthropic/format.ts";
import { emptyHistory, findCleanStart, readHistory } from "./history.ts";
import type { Unit } from "./wire.ts";

const unit = (role: string, content: unknown): Unit => ({ wires: [{ role, content: content as string }] });
const long = (count: number): Unit[] =>
  Array.from({ length: count }, (_, index) => unit(index % 2 === 0 ? "user" : "assistant", `message ${index}`));
const ids = (units: Unit[], known = emptyHistory): string[] =>
  readHistory(anthropicFormat, units, known).links.map(({ id }) => id);

describe("a history", () => {
  it("has the same ids up to where it was edited, and others from there on", () => {
    const units = long(200);
    const before = ids(units);
    const edited = units.with(150, unit("user", "said otherwise"));
    const after = ids(edited);
    expect(after.slice(0, 150)).toEqual(before.slice(0, 150));
    expect(after.slice(150).filter((id) => before.includes(id))).toEqual([]);
    expect(new Set(before).size).toBe(200);
  });

  it("has the same ids whether the last request is remembered or not", () => {
    const known = readHistory(anthropicFormat, long(130), emptyHistory);
    for (const units of [long(131), long(64), long(129).with(3, unit("assistant", "x")), [...long(130), ...long(2)]]) {
      expect(ids(units, known)).toEqual(ids(units));
    }
  });

  it("does not change with marks for caches, reminders and thoughts", () => {
    const plain = [unit("user", "hello"), unit("assistant", [{ type: "text", text: "hi" }])];
    const moved = [
      unit("user", [
        { type: "text", text: "<system-reminder>be kind</system-reminder>" },
        { type: "text", text: "hello", cache_control: { type: "ephemeral" } },
      ]),
      unit("assistant", [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "hi", citations: null },
      ]),
    ];
    expect(ids(moved)).toEqual(ids(plain));
  });

  it("is sent from a place where no result is without its call", () => {
    const call = (id: string): Unit => unit("assistant", [{ type: "tool_use", id, name: "x", input: {} }]);
    const result = (id: string): Unit => unit("user", [{ type: "tool_result", tool_use_id: id, content: "r" }]);
    const { links } = readHistory(
      anthropicFormat,
      [unit("user", "go"), call("a"), result("a"), call("b"), result("b"), unit("user", "on")],
      emptyHistory,
    );
    expect([0, 1, 2, 3, 4, 5, 6].map((from) => findCleanStart(links, from))).toEqual([0, 1, 1, 3, 3, 5, 5]);
  });
});
