import { describe, expect, test } from "vitest";
import { parseAddress } from "./address.ts";
import { type ProbeServer, ServerSelector } from "./servers.ts";

type Role = "primary" | "standby" | "down" | "silent";

/** Servers whose roles a test changes; a silent one answers never. */
function createServers(roles: Record<string, Role>) {
  const asked: string[] = [];
  const probe: ProbeServer = async ({ name }) => {
    asked.push(name);
    const role = roles[name];
    if (role === "silent") return new Promise(() => undefined);
    if (role === "down") throw Object.assign(new Error(""), { code: "ECONNREFUSED" });
    return { isStandby: role === "standby", isReadOnly: role === "standby" };
  };
  return { roles, asked, probe };
}

const both = "postgres://a:1,b:2/varve";

describe("of several servers", () => {
  test("the one that can be written to is chosen once, also when the other is silent", async () => {
    const { asked, probe } = createServers({ "a:1": "silent", "b:2": "primary" });
    const selector = new ServerSelector(parseAddress(both), 1_000, probe);
    await Promise.all([selector.choose(), selector.choose()]);
    await selector.choose();
    expect(selector.current.name).toBe("b:2");
    expect(asked).toEqual(["a:1", "b:2"]);
  });

  test("another one is chosen after a switch, and connections of the earlier one are of an earlier generation", async () => {
    const { roles, probe } = createServers({ "a:1": "primary", "b:2": "standby" });
    const selector = new ServerSelector(parseAddress(both), 1_000, probe);
    await selector.choose();
    const { generation } = selector;
    // A single broken connection does not end the others.
    selector.suspect(generation);
    await selector.choose();
    expect(selector).toMatchObject({ generation, current: { name: "a:1" } });
    Object.assign(roles, { "a:1": "down", "b:2": "primary" });
    selector.suspect(generation);
    await selector.choose();
    expect(selector.current.name).toBe("b:2");
    expect(selector.generation).toBeGreaterThan(generation);
    // Late news of the earlier server changes nothing.
    const later = selector.generation;
    selector.abandon(generation);
    expect(selector.generation).toBe(later);
  });

  test("a server that became read-only is given up at once", async () => {
    const { roles, probe } = createServers({ "a:1": "primary", "b:2": "standby" });
    const selector = new ServerSelector(parseAddress(both), 1_000, probe);
    await selector.choose();
    const { generation } = selector;
    Object.assign(roles, { "a:1": "standby", "b:2": "primary" });
    selector.abandon(generation);
    expect(selector.generation).toBeGreaterThan(generation);
    await selector.choose();
    expect(selector.current.name).toBe("b:2");
  });

  test("none being suitable is said of each, and tried again by the next call", async () => {
    const { roles, probe } = createServers({ "a:1": "down", "b:2": "standby" });
    const selector = new ServerSelector(parseAddress(both), 1_000, probe);
    await expect(selector.choose()).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/a:1: ECONNREFUSED; b:2: is read-only/),
    });
    roles["b:2"] = "primary";
    await selector.choose();
    expect(selector.current.name).toBe("b:2");
  });

  test.each([
    ["standby", "b:2"],
    ["prefer-standby", "b:2"],
    ["read-only", "b:2"],
    ["primary", "a:1"],
  ])("target_session_attrs=%s chooses %s", async (target, name) => {
    const { probe } = createServers({ "a:1": "primary", "b:2": "standby" });
    const selector = new ServerSelector(parseAddress(`${both}?target_session_attrs=${target}`), 1_000, probe);
    await selector.choose();
    expect(selector.current.name).toBe(name);
  });

  test("prefer-standby takes the primary when there is no standby", async () => {
    const { probe } = createServers({ "a:1": "primary", "b:2": "down" });
    const selector = new ServerSelector(parseAddress(`${both}?target_session_attrs=prefer-standby`), 1_000, probe);
    await selector.choose();
    expect(selector.current.name).toBe("a:1");
  });
});

test("a single server is used without asking for its role", async () => {
  const { asked, probe } = createServers({});
  const selector = new ServerSelector(parseAddress("postgres://a:1/varve"), 1_000, probe);
  await selector.choose();
  selector.abandon();
  await selector.choose();
  expect(asked).toEqual([]);
  expect(selector.generation).toBe(1);
});
