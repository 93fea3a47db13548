import { describe, expect, test } from "vitest";
import type { DmScope, Owners } from "../authorization/index.ts";
import { printSessionKey } from "../domain/index.ts";
import type { Address } from "./address.ts";
import { routeAddress } from "./route.ts";

const identityLinks = { alice: ["telegram:111", "999"] };
const route = (dmScope: DmScope, address: Address, owners: Owners = {}) =>
  printSessionKey(routeAddress(address, { agent: "main", dmScope, mainKey: "home", identityLinks }, owners).key);

describe("a direct chat", () => {
  const address = { channel: "Telegram", account: "Bot1", peer: "111" };
  test.each([
    ["auto", "agent:main:telegram:direct:alice"],
    ["main", "agent:main:home"],
    ["per-peer", "agent:main:direct:alice"],
    ["per-channel-peer", "agent:main:telegram:direct:alice"],
    ["per-account-channel-peer", "agent:main:telegram:Bot1:direct:alice"],
  ] as const)("with dmScope %s goes to %s", (scope, key) => {
    expect(route(scope, address)).toBe(key);
  });

  test.each(["auto", "main"] as const)("of the owner goes to the main session with dmScope %s", (scope) => {
    const owners = { telegram: ["111"] };
    expect(route(scope, address, owners)).toBe("agent:main:home");
    expect(route(scope, { channel: "slack", peer: "999" }, owners)).toBe("agent:main:home");
    expect(route(scope, { channel: "telegram", peer: "112" }, owners)).toBe("agent:main:telegram:direct:112");
    expect(route(scope, { channel: "telegram", peer: "112", owner: true }, owners)).toBe("agent:main:home");
    expect(route(scope, {}, owners)).toBe("agent:main:home");
  });

  test("of an unlinked peer keeps its own id, of a link without a channel fits any", () => {
    expect(route("per-peer", { channel: "signal", peer: "111" })).toBe("agent:main:direct:111");
    expect(route("per-peer", { channel: "signal", peer: "999" })).toBe("agent:main:direct:alice");
  });

  test("of somebody who has the name of a linked person is not that person's", () => {
    expect(route("per-peer", { channel: "signal", peer: "alice" })).toBe("agent:main:direct:%61lice");
    expect(route("per-channel-peer", { channel: "telegram", peer: "alice" })).toBe(
      "agent:main:telegram:direct:%61lice",
    );
  });

  test("written as a pair is the same chat", () => {
    expect(route("per-channel-peer", { key: "telegram:111" })).toBe("agent:main:telegram:direct:alice");
    expect(route("main", { key: "telegram:111" })).toBe("agent:main:home");
  });
});

test("a group, its thread, another agent and a key outright go where they say", () => {
  expect(route("main", { channel: "slack", group: { type: "room", id: "R" } })).toBe("agent:main:slack:room:R");
  expect(
    route("main", {
      agent: "ops",
      channel: "slack",
      group: { type: "group", id: "g", thread: { type: "topic", id: "T" } },
    }),
  ).toBe("agent:ops:slack:group:g:topic:T");
  expect(route("per-peer", { key: "cron:nightly" })).toBe("cron:nightly");
});
