import { describe, expect, it } from "vitest";
import { checkScope, narrowScopes, visibleScopes, writeScope } from "./memory-scopes.ts";

describe("scopes", () => {
  it("of an agent are what everybody shares, its own, and its reflection", () => {
    expect(visibleScopes({ agent: "main" })).toEqual(["global", "agent:main", "reflection:agent:main"]);
  });

  it("of an explicit list replace them, but for the reflection", () => {
    expect(visibleScopes({ agent: "main", scopes: ["project:x"] })).toEqual(["project:x", "reflection:agent:main"]);
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
