import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromAnthropic, fromPi, jsonEqual, toAnthropic, toPi } from "../../domain/index.ts";
import { detectSource } from "./import-paths.ts";
import { readAll } from "./read-all.test-util.ts";

const folder = process.env.VARVE_TRANSCRIPTS;

/** The number of messages in publicly available files. */
const readMessages: Record<string, number> = {
  "large-session.jsonl": 914,
  "1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl": 29,
  "5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl": 53,
};

function filesUnder(root: string | undefined): string[] {
  if (root === undefined) return [];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => join(root, name))
    .filter((path) => path.endsWith(".jsonl") && statSync(path).isFile());
}

describe.runIf(folder !== undefined)("a transcript written by a real program", () => {
  it.each(filesUnder(folder))("%s is read to the last line", (path) => {
    const lines = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    const format = detectSource(
      path,
      lines.slice(0, 20).map((line) => line.slice(0, 65_536)),
    );
    expect(format).toBeDefined();
    if (format === undefined) return;
    const reading = readAll(format, lines, { path });
    expect(reading.bad).toEqual([]);
    expect(reading.events.length).toBeGreaterThanOrEqual(lines.length);
    const counts = Object.groupBy(reading.entries, (entry) =>
      entry.type === "custom" ? entry.customType : entry.type,
    );
    const name = path.split("/").at(-1) ?? "";
    if (name in readMessages) expect(counts.message?.length).toBe(readMessages[name]);
    if (name === "large-session.jsonl") {
      expect(counts["pi:thinking_level_change"]?.length).toBe(103);
      expect(counts.model_change?.length).toBe(1);
      expect(reading.sessions).toHaveLength(1);
    }
    const again = readAll(format, lines, { path });
    expect(again.entries.map((entry) => entry.id)).toEqual(reading.entries.map((entry) => entry.id));
    expect(new Set(reading.entries.map((entry) => entry.id)).size).toBe(reading.entries.length);
  });

  it.each(filesUnder(folder))("%s reproduces every message exactly", (path) => {
    for (const line of readFileSync(path, "utf8").split("\n")) {
      const record = line === "" ? {} : (JSON.parse(line) as { message?: { role?: string } });
      if (record.message === undefined) continue;
      expect(jsonEqual(toAnthropic(fromAnthropic(record.message)), [record.message])).toBe(true);
      expect(jsonEqual(toPi(fromPi(record.message)), [record.message])).toBe(true);
    }
  });
});
