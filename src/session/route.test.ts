import { describe, expect, test } from "vitest";
import { printSessionKey } from "../domain/index.ts";
import { type DmScope, routeAddress } from "./route.ts";

const identityLinks = { alice: ["telegram:111", "999"] };
const route = (dmScope: DmScope, address: Parameters<typeof routeAddress>[0]) =>
  printSessionKey(routeAddress(address, { agent: "main", dmScope, mainKey: "home", identityLinks, owners: {} }));

describe("a direct chat", () => {
  const address = { channel: "Telegram", account: "Bot1", peer: "111" };
  test.each([
    ["main", "agent:main:home"],
    ["per-peer", "agent:main:direct:alice"],
    ["per-channel-peer", "agent:main:telegram:direct:alice"],
    ["per-account-channel-peer", "agent:main:telegram:bot1:direct:alice"],
  ] as const)("with dmScope %s goes to %s", (scope, key) => {
    expect(route(scope, address)).toBe(key);
  });

  test("of an unlinked peer keeps its own id, of a link without a channel fits any", () => {
    expect(route("per-peer", { channel: "signal", peer: "111" })).toBe("agent:main:direct:111");
    expect(route("per-peer", { channel: "signal", peer: "999" })).toBe("agent:main:direct:alice");
  });

  test("written as a pair is the same chat", () => {
    expect(route("per-channel-peer", { key: "telegram:111" })).toBe("agent:main:telegram:direct:alice");
    expect(route("main", { key: "telegram:111" })).toBe("agent:main:home");
  });
});

test("a group, its thread, another agent and a key outright go where they say", () => {
  expect(route("main", { channel: "slack", group: { type: "room", id: "R" } })).toBe("agent:main:slack:room:r");
  expect(
    route("main", {
      agent: "ops",
      channel: "slack",
      group: { type: "group", id: "g", thread: { type: "topic", id: "T" } },
    }),
  ).toBe("agent:ops:slack:group:g:topic:t");
  expect(route("per-peer", { key: "cron:nightly" })).toBe("cron:nightly");
});
