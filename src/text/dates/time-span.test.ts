import { describe, expect, test } from "vitest";
import { parseTimeSpan, scoreTimeFit } from "./time-span.ts";

/** A Wednesday. */
const now = Date.UTC(2026, 5, 17, 10);
const parseDays = (query: string) => {
  const span = parseTimeSpan(query, now, "UTC");
  return span && [new Date(span.from).toISOString().slice(0, 10), new Date(span.to).toISOString().slice(0, 10)];
};

describe("time in a question", () => {
  test.each([
    ["What happened on 2023-05-08?", "2023-05-08", "2023-05-09"],
    ["Where did we go on 8 May, 2023?", "2023-05-08", "2023-05-09"],
    ["Where did we go on May 8th, 2023?", "2023-05-08", "2023-05-09"],
    ["the plans of October 2024", "2024-10-01", "2024-11-01"],
    ["what did I say yesterday", "2026-06-16", "2026-06-17"],
    ["Was habe ich gestern gesagt?", "2026-06-16", "2026-06-17"],
    ["Was war letzte Woche?", "2026-06-08", "2026-06-15"],
    ["last week's meeting", "2026-06-08", "2026-06-15"],
    ["la semaine dernière", "2026-06-08", "2026-06-15"],
    ["el mes pasado", "2026-05-01", "2026-06-01"],
    ["last May", "2026-05-01", "2026-06-01"],
    ["31 June 2024", "2024-06-01", "2024-07-01"],
    ["on 3 July", "2025-07-03", "2025-07-04"],
    ["on June 3rd", "2026-06-03", "2026-06-04"],
    ["in August", "2025-08-01", "2025-09-01"],
    ["im März", "2026-03-01", "2026-04-01"],
    ["last Friday", "2026-06-12", "2026-06-13"],
    ["last Wednesday", "2026-06-10", "2026-06-11"],
    ["three days ago", "2026-06-14", "2026-06-15"],
    ["vor zwei Wochen", "2026-05-31", "2026-06-07"],
    ["last year", "2025-01-01", "2026-01-01"],
    ["trips in 2022", "2022-01-01", "2023-01-01"],
    ["昨天我们说了什么", "2026-06-16", "2026-06-17"],
    ["2024年3月的计划", "2024-03-01", "2024-04-01"],
  ])("%s", (query, from, to) => expect(parseDays(query)).toEqual([from, to]));

  test.each(["May I ask something?", "the march of time", "version 2024", "a second opinion", ""])(
    "%j names no time",
    (query) => expect(parseDays(query)).toBeUndefined(),
  );

  test("a date without a year means the latest; other years score a little less", () => {
    const span = parseTimeSpan("What did we do in August?", now, "UTC");
    expect(span && scoreTimeFit(span, Date.UTC(2025, 7, 9))).toBe(1);
    expect(span && scoreTimeFit(span, Date.UTC(2023, 7, 9))).toBe(0.9);
    expect(span && scoreTimeFit(span, Date.UTC(2023, 3, 9))).toBe(0);
  });

  test("a time just outside of the span scores 0.5", () => {
    const span = { from: Date.UTC(2026, 0, 10), to: Date.UTC(2026, 0, 11), text: "" };
    expect(scoreTimeFit(span, Date.UTC(2026, 0, 10, 5))).toBe(1);
    expect(scoreTimeFit(span, Date.UTC(2026, 0, 12))).toBe(0.5);
    expect(scoreTimeFit(span, Date.UTC(2026, 0, 20))).toBe(0);
  });
});

test.each([
  "what did we say about the schema",
  "config database",
  "wo ist der Schlüssel",
  "the best player",
  "le fichier",
])("%s names no time", (query) => expect(parseTimeSpan(query, Date.UTC(2026, 0, 1), "UTC")).toBeUndefined());
