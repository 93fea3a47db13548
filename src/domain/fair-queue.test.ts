import { describe, expect, it } from "vitest";
import { FairQueue } from "./fair-queue.ts";

/** Work that ends when the test says so. */
function createWork(order: string[]) {
  const ends = new Map<string, () => void>();
  return {
    ends,
    work: (name: string) => () =>
      new Promise<void>((resolve) => {
        order.push(name);
        ends.set(name, resolve);
      }),
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("a fair queue", () => {
  it("delays a caller by at most the work that runs, however much another one has asked for", async () => {
    const queue = new FairQueue({ running: 1, runningPerCaller: 1, waitingPerCaller: 100, what: "tasks" });
    const order: string[] = [];
    const { work, ends } = createWork(order);
    const all = Array.from({ length: 50 }, (_, index) => queue.run("greedy", undefined, work(`greedy ${index}`)));
    all.push(queue.run("other", undefined, work("other")), queue.run("third", undefined, work("third")));
    for (let step = 0; step < all.length; step += 1) {
      await settle();
      ends.get(order[step] ?? "")?.();
    }
    await Promise.all(all);
    expect(order.slice(0, 4)).toEqual(["greedy 0", "other", "third", "greedy 1"]);
    expect(order).toHaveLength(52);
  });

  it("keeps a place free for others", async () => {
    const queue = new FairQueue({ running: 2, runningPerCaller: 1, waitingPerCaller: 100, what: "tasks" });
    const order: string[] = [];
    const { work, ends } = createWork(order);
    const all = ["a1", "a2", "a3"].map((name) => queue.run("a", undefined, work(name)));
    all.push(queue.run("b", undefined, work("b1")));
    await settle();
    expect(order).toEqual(["a1", "b1"]);
    for (const name of ["a1", "b1", "a2", "a3"]) {
      ends.get(name)?.();
      await settle();
    }
    await Promise.all(all);
    expect(order).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("refuses more than may wait, and forgets a caller that goes away", async () => {
    const queue = new FairQueue({ running: 1, runningPerCaller: 1, waitingPerCaller: 2, what: "tasks" });
    const order: string[] = [];
    const { work, ends } = createWork(order);
    const first = queue.run("a", undefined, work("first"));
    const controller = new AbortController();
    const second = queue.run("a", controller.signal, work("second"));
    const third = queue.run("a", undefined, work("third"));
    await expect(queue.run("a", undefined, work("fourth"))).rejects.toMatchObject({ code: "RATE_LIMITED" });
    controller.abort();
    await expect(second).rejects.toThrow();
    ends.get("first")?.();
    await first;
    await settle();
    ends.get("third")?.();
    await third;
    expect(order).toEqual(["first", "third"]);
  });

  it("gives its place back after a failure", async () => {
    const queue = new FairQueue({ running: 1, runningPerCaller: 1, waitingPerCaller: 2, what: "tasks" });
    await expect(queue.run("a", undefined, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await queue.run("a", undefined, async () => 1)).toBe(1);
  });
});
