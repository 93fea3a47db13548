import { expect, it } from "vitest";
import { systemClock, systemRandom } from "../domain/index.ts";
import { createEventBus, type GatewayEvent } from "./events.ts";

const event = (key: string): GatewayEvent => ({ type: "session.created", agent: "main", key, sessionId: key });
const busOf = (kept: number) => createEventBus(systemClock, systemRandom, kept);

it("gives every reader what came after its place, and says what is no longer kept", () => {
  const bus = busOf(3);
  const start = bus.end();
  for (const key of ["a", "b", "c", "d", "e"]) bus.publish(event(key));
  const all = bus.readSince(start);
  expect(all.events.map(({ key }) => key)).toEqual(["c", "d", "e"]);
  expect(all.dropped).toBe(2);
  expect(bus.readSince(all.position)).toEqual({ events: [], position: all.position, dropped: 0 });
  const behindD = bus.findPositionAfter(all.events[1]?.id ?? "");
  expect(bus.readSince(behindD ?? 0).events.map(({ key }) => key)).toEqual(["e"]);
});

it("knows only the ids of its own run", () => {
  const [bus, other] = [busOf(3), busOf(3)];
  other.publish(event("a"));
  const foreign = other.readSince(0).events[0]?.id ?? "";
  for (const id of [foreign, "", "x", `${bus.idBefore(0)}9`, bus.idBefore(7), `${bus.idBefore(0)}.5`]) {
    expect(bus.findPositionAfter(id), id).toBeUndefined();
  }
  expect(bus.findPositionAfter(bus.idBefore(0))).toBe(0);
});

it("wakes a waiting reader by an event, by closing, by leaving and by time", async () => {
  const bus = busOf(3);
  const { signal } = new AbortController();
  const woken = bus.wait(0, 60_000, signal);
  bus.publish(event("a"));
  await woken;
  await bus.wait(0, 60_000, signal);
  await bus.wait(1, 1, signal);
  const leaving = new AbortController();
  const left = bus.wait(1, 60_000, leaving.signal);
  leaving.abort();
  await left;
  const closed = bus.wait(1, 60_000, signal);
  bus.close();
  await closed;
  expect(bus.closed).toBe(true);
});
