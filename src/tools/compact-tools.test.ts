import { expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../domain/index.ts";
import { compactDescription, compactSchema } from "./compact-tools.ts";
import { openToolbox } from "./toolbox.ts";

type Services = Parameters<typeof openToolbox>[0];

test("a compact schema keeps every parameter, what is required and every choice", () => {
  const { tools } = openToolbox({} as Services, { agent: "main" });
  expect(tools.length).toBeGreaterThan(8);
  for (const { name, input, description } of tools) {
    const whole = z.toJSONSchema(input, { io: "input" }) as JsonObject;
    const compact = compactSchema(whole);
    expect(Object.keys(compact.properties as JsonObject), name).toEqual(Object.keys(whole.properties as JsonObject));
    expect(compact.required, name).toEqual(whole.required);
    for (const [parameter, schema] of Object.entries(compact.properties as Record<string, JsonObject>)) {
      const before = (whole.properties as Record<string, JsonObject>)[parameter];
      if (before?.enum !== undefined) expect(schema.enum).toEqual(before.enum);
      expect(String(schema.description ?? "")).not.toMatch(/\([^)]*$/);
    }
    expect(compactDescription(description).length).toBeGreaterThan(20);
    expect(JSON.stringify(compact).length).toBeLessThan(JSON.stringify(whole).length);
  }
});

test("a description ends with a sentence or a part of one", () => {
  expect(compactDescription("Finds it.")).toBe("Finds it.");
  const long = `Finds every place. ${"It takes words (or patterns, as you like). ".repeat(5)}`;
  expect(compactDescription(long)).toBe(
    "Finds every place. It takes words. It takes words. It takes words. It takes words. It takes words.",
  );
});
