import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findLocalTimeZone } from "./local-time-zone.ts";

let folder: string;
const intlZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "varve-zone-"));
  symlinkSync("/usr/share/zoneinfo/Etc/UTC", join(folder, "utc"));
  symlinkSync("../usr/share/zoneinfo/Asia/Tokyo", join(folder, "tokyo"));
  writeFileSync(join(folder, "file"), "");
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each(["UTC", "Etc/UTC"])("the variable %s names UTC without Intl", (variable) => {
  const intl = vi.spyOn(Intl, "DateTimeFormat");
  expect(findLocalTimeZone(variable, join(folder, "tokyo"))).toBe("UTC");
  expect(intl).not.toHaveBeenCalled();
  intl.mockRestore();
});

test("without the variable, a link to UTC is followed without Intl", () => {
  const intl = vi.spyOn(Intl, "DateTimeFormat");
  expect(findLocalTimeZone(undefined, join(folder, "utc"))).toBe("UTC");
  expect(intl).not.toHaveBeenCalled();
  intl.mockRestore();
});

test.each(["tokyo", "file", "missing"])("Intl is asked where the link is %s", (name) => {
  const intl = vi.spyOn(Intl, "DateTimeFormat");
  expect(findLocalTimeZone(undefined, join(folder, name))).toBe(intlZone);
  expect(intl).toHaveBeenCalledOnce();
  intl.mockRestore();
});

test("the variable takes precedence over the link", () => {
  const intl = vi.spyOn(Intl, "DateTimeFormat");
  expect(findLocalTimeZone("Europe/Berlin", join(folder, "utc"))).toBe(intlZone);
  expect(intl).toHaveBeenCalledOnce();
  intl.mockRestore();
});
