import { expect, test } from "vitest";
import { readHomeOwners } from "./home-owners.ts";

const ids = (settings: Parameters<typeof readHomeOwners>[0]) =>
  readHomeOwners(settings).map(({ channel, id }) => `${channel} ${id}`);

test("the ids of commands.ownerAllowFrom are the owner's, with and without a prefix for users", () => {
  const commands = { ownerAllowFrom: ["telegram:5054873275", "tg:7", "discord:user:9", "*", "telegram:*", 5] };
  expect(ids({ commands, channels: { slack: { allowFrom: ["U1"] } } })).toEqual([
    "telegram 5054873275",
    "telegram 7",
    "discord 9",
  ]);
});

test("the only id that a channel admits is the owner's where all direct chats share the main session", () => {
  const channels = {
    telegram: { allowFrom: ["tg:123"] },
    slack: { allowFrom: ["U1", "U2"] },
    signal: { allowFrom: ["*"] },
  };
  expect(ids({ channels })).toEqual(["telegram 123"]);
  expect(ids({ channels, session: { dmScope: "main" } })).toEqual(["telegram 123"]);
  expect(ids({ channels, session: { dmScope: "per-peer" } })).toEqual([]);
  expect(ids({})).toEqual([]);
});
