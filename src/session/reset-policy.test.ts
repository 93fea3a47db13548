import { describe, expect, test } from "vitest";
import { findLastHour } from "../domain/index.ts";
import { expiry, findTrigger, type ResetRule, ruleFor } from "./reset-policy.ts";

const at = (text: string) => Date.parse(text);
const rule = (mode: ResetRule["mode"]): ResetRule => ({ mode, atHour: 4, idleMinutes: 240 });

describe("the daily boundary", () => {
  test.each([
    ["2026-01-15T12:00:00Z", "UTC", "2026-01-15T04:00:00Z"],
    ["2026-01-15T03:59:59Z", "UTC", "2026-01-14T04:00:00Z"],
    ["2026-01-15T04:00:00Z", "UTC", "2026-01-15T04:00:00Z"],
    ["2026-01-15T12:00:00Z", "Asia/Tokyo", "2026-01-14T19:00:00Z"],
    ["2026-01-15T05:00:00Z", "America/New_York", "2026-01-14T09:00:00Z"],
    // The clocks go forward on 29 March and back on 25 October in Berlin.
    ["2026-03-29T12:00:00Z", "Europe/Berlin", "2026-03-29T02:00:00Z"],
    ["2026-03-28T12:00:00Z", "Europe/Berlin", "2026-03-28T03:00:00Z"],
    ["2026-10-25T12:00:00Z", "Europe/Berlin", "2026-10-25T03:00:00Z"],
  ])("before %s in %s was %s", (now, zone, boundary) => {
    expect(new Date(findLastHour(at(now), 4, zone)).toISOString()).toBe(new Date(at(boundary)).toISOString());
  });
});

describe("expiry", () => {
  const clocks = { sessionStartedAt: at("2026-01-14T20:00:00Z"), lastInteractionAt: at("2026-01-15T03:00:00Z") };

  test.each([
    ["none", "2026-02-15T00:00:00Z", undefined],
    ["daily", "2026-01-15T03:30:00Z", undefined],
    ["daily", "2026-01-15T04:00:00Z", "daily"],
    ["idle", "2026-01-15T06:59:59Z", undefined],
    ["idle", "2026-01-15T07:00:00Z", "idle"],
    ["both", "2026-01-15T04:30:00Z", "daily"],
    ["both", "2026-01-15T09:00:00Z", "daily"],
  ] as const)("with %s at %s: %s", (mode, now, reason) => {
    expect(expiry(rule(mode), clocks, at(now), "UTC")).toBe(reason);
  });

  test("with both, silence that ended before the boundary came first", () => {
    const quiet = { sessionStartedAt: at("2026-01-14T10:00:00Z"), lastInteractionAt: at("2026-01-14T11:00:00Z") };
    expect(expiry(rule("both"), quiet, at("2026-01-15T09:00:00Z"), "UTC")).toBe("idle");
  });
});

describe("the rule of a session", () => {
  const settings = {
    reset: rule("auto"),
    resetByType: { group: { mode: "daily" as const }, thread: { idleMinutes: 5, mode: "idle" as const } },
    resetByChannel: { slack: { mode: "none" as const } },
    timezone: "UTC",
  };

  test("is its channel's, else its type's, else the default", () => {
    expect(ruleFor(settings, "group", "slack", true).mode).toBe("none");
    expect(ruleFor(settings, "group", "irc", true).mode).toBe("daily");
    expect(ruleFor(settings, "thread", undefined, true)).toEqual({ mode: "idle", atHour: 4, idleMinutes: 5 });
    expect(ruleFor(settings, "direct", "irc", true).mode).toBe("idle");
    expect(ruleFor(settings, "direct", undefined, false).mode).toBe("none");
  });
});

describe("a trigger", () => {
  test.each([
    ["/new", { kind: "new", rest: "" }],
    ["  /NEW hello there ", { kind: "new", rest: "hello there" }],
    ["/reset\nand go", { kind: "reset", rest: "and go" }],
    ["/newer things", undefined],
    ["please /new", undefined],
    ["", undefined],
  ])("in %j is %j", (text, found) => {
    expect(findTrigger(text, ["/new", "/reset"])).toEqual(found);
  });
});
