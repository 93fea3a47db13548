import { describe, expect, it } from "vitest";
import { checkScope, narrowScopes, visibleScopes, writeScope } from "./memory-scopes.ts";
import { owner, type Principal } from "./principal.ts";
import { resolveVisibility } from "./resolve-visibility.ts";

describe("scopes", () => {
  it("of an agent are what everybody shares, its own, and its reflection", () => {
    expect(visibleScopes({ agent: "main" })).toEqual(["global", "agent:main", "reflection:agent:main"]);
  });

  it("of an explicit list replace them", () => {
    expect(visibleScopes({ agent: "main", scopes: ["project:x"] })).toEqual(["project:x"]);
  });

  it("of the settings include the agent's reflections, those of a principal do not", () => {
    const settings = { agent: "main", memory: { agentScopes: { main: ["project:x"] } } };
    const scopes = (principal: Partial<Principal>) =>
      visibleScopes(resolveVisibility(settings, { principal: { ...owner, ...principal } }));
    expect(scopes({})).toEqual(["project:x", "reflection:agent:main"]);
    expect(scopes({ scopes: ["global"] })).toEqual(["global"]);
  });

  it("that all agents share are read-only for a principal that is bound to one", () => {
    const settings = { agent: "main", memory: { agentScopes: {} } };
    const bound = resolveVisibility(settings, { principal: { ...owner, agents: ["main"] } });
    expect(visibleScopes(bound)).toContain("global");
    expect(() => writeScope(bound, "global")).toThrow(/not open/);
    expect(writeScope(bound)).toBe("agent:main");
    const scoped = resolveVisibility(settings, { principal: { ...owner, agents: ["main"], scopes: ["global"] } });
    expect(() => writeScope(scoped)).toThrow(/No scope is open/);
  });

  it("of people and projects are visible to the owner when they are named", () => {
    const settings = { agent: "main", memory: { agentScopes: {} } };
    const seen = resolveVisibility(settings);
    expect(narrowScopes(seen, ["user:7", "agent:other"])).toEqual(["user:7"]);
    expect(
      narrowScopes(resolveVisibility(settings, { principal: { ...owner, agents: ["main"] } }), ["user:7"]),
    ).toEqual([]);
  });

  it("of an empty list are none at all", () => {
    expect(visibleScopes({ agent: "main", scopes: [] })).toEqual([]);
    expect(() => writeScope({ agent: "main", scopes: [] })).toThrow(/No scope is open/);
  });

  it("bind no internal caller", () => {
    expect(visibleScopes({ agent: "main", system: true })).toBeUndefined();
    expect(narrowScopes({ agent: "main", system: true }, ["user:7"])).toEqual(["user:7"]);
  });

  it("that are foreign are left out of a question and refused for writing", () => {
    expect(narrowScopes({ agent: "main" }, ["agent:other", "global"])).toEqual(["global"]);
    expect(() => writeScope({ agent: "main" }, "agent:other")).toThrow(/not open to the agent main/);
  });

  it("are written to in order: the agent's own, then what is shared", () => {
    expect(writeScope({ agent: "main" })).toBe("agent:main");
    expect(writeScope({ agent: "main", scopes: ["global"] })).toBe("global");
    expect(writeScope({ agent: "main", scopes: ["user:7"] }, "user:7")).toBe("user:7");
  });

  it("have a form", () => {
    for (const scope of ["everything", "agent:", "user:", "reflection:main", "global:x", "agent:a b"]) {
      expect(() => checkScope(scope), scope).toThrow(/is not a scope/);
    }
  });
});
