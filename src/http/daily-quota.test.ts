import { expect, it } from "vitest";
import { createDailyQuota } from "./daily-quota.ts";

const worker = { name: "worker", rights: new Set(["read", "write"] as const) };
const day = 86_400_000;

it("limits each token per day, and says when to try again", () => {
  let time = 10 * day + day / 2;
  const clock = { now: () => time };
  const quota = createDailyQuota(clock, { max: 100, what: "bytes", setting: "gateway.quotas.bytesPerDay" });
  quota.take(worker, 60);
  quota.take({ ...worker, name: "other" }, 100);
  expect(() => quota.take(worker, 41)).toThrow(
    expect.objectContaining({ code: "RATE_LIMITED", details: { retryAfterSeconds: 43_200 } }),
  );
  quota.take(worker, 40);
  expect(() => quota.take(worker, 1)).toThrow(/gateway.quotas.bytesPerDay|worker/);
  time += day / 2;
  quota.take(worker, 100);
});

it("does not limit the owner, nor anybody without a setting", () => {
  const clock = { now: () => 0 };
  const owner = { name: "owner", rights: new Set(["admin"] as const) };
  const bound = { ...owner, agents: ["main"] };
  const quota = createDailyQuota(clock, { max: 1, what: "turns", setting: "s" });
  quota.take(owner, 1_000);
  expect(() => quota.take(bound, 2)).toThrow();
  createDailyQuota(clock, { max: undefined, what: "turns", setting: "s" }).take(worker, 1_000);
});

it("counts what is known only afterwards, and refuses what comes next", () => {
  const quota = createDailyQuota({ now: () => 0 }, { max: 100, what: "model tokens", setting: "s" });
  quota.check(worker);
  quota.add(worker, 250);
  expect(() => quota.check(worker)).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
  quota.check({ ...worker, name: "other" });
});
