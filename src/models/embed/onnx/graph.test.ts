import { expect, test } from "vitest";
import { bytes, float, integer, message, text } from "./graph.ts";

test("fields are encoded in the wire format", () => {
  expect([...message(integer(1, 150))]).toEqual([0x08, 0x96, 0x01]);
  expect([...message(text(2, "testing"))]).toEqual([0x12, 7, ...Buffer.from("testing")]);
  expect([...message(bytes(3, message(integer(1, 150))))]).toEqual([0x1a, 3, 0x08, 0x96, 0x01]);
  expect([...message(float(2, 1))]).toEqual([0x15, 0, 0, 0x80, 0x3f]);
  expect([...message(undefined)]).toEqual([]);
});
