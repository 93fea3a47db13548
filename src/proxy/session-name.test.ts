import { describe, expect, it } from "vitest";
import { anthropicFormat } from "./anthropic/format.ts";
import { deriveSessionKey, type NameSources } from "./session-name.ts";
import type { Unit } from "./wire.ts";

const said = (...texts: string[]): Unit[] =>
  texts.map((content, index) => ({ wires: [{ role: index % 2 === 0 ? "user" : "assistant", content }] }));

function key(headers: Record<string, string>, rest: Partial<NameSources> = {}, units = said("hi", "hello")) {
  const sources = { credential: "sk-1", secret: "s", agent: "main", ...rest };
  return deriveSessionKey({ headers: new Headers(headers), ...sources }, anthropicFormat, units);
}

const worker = { name: "worker", rights: new Set(["read", "write"] as const) };

describe("the name of a conversation", () => {
  it("is another for every credential, so that a name that is guessed opens nothing", () => {
    const named = { "x-varve-session": "work" };
    expect(key(named)).toBe(key(named));
    expect(key(named)).not.toBe(key(named, { credential: "sk-2" }));
    expect(key(named)).not.toBe(key(named, { secret: "another installation" }));
    expect(key(named)).not.toContain("work");
    expect(key(named, { principal: { name: "writer", rights: new Set(["write"] as const) } })).not.toContain("work");
  });

  it("is as it is given for those who may read everything", () => {
    expect(key({ "x-varve-session": "work" }, { principal: worker })).toBe("agent:main:proxy:direct:work");
    const whole = { "x-varve-session": "agent:main:telegram:direct:5" };
    expect(key(whole, { principal: worker })).toBe("agent:main:telegram:direct:5");
    expect(() => key(whole, { principal: { ...worker, agents: ["other"] } })).toThrow(/bound to the agent other/);
    expect(() => key({ "x-varve-session": " " }, { principal: worker })).toThrow(/empty/);
  });

  it("comes from the client's own header, and from how the conversation begins", () => {
    const claude = { "x-claude-code-session-id": "b1d2" };
    expect(key(claude, {}, said("hi"))).toBe(key(claude, {}, said("hi", "hello", "more")));
    expect(key(claude, {}, said("hi"))).not.toBe(key(claude, { credential: "sk-2" }, said("hi")));
    const renewed = ["Bearer sk-ant-oat01-a", "Bearer sk-ant-oat01-b"].map((credential) => key(claude, { credential }));
    expect(renewed[0]).toBe(renewed[1]);
    expect(key(claude, {}, said("hi"))).not.toBe(key(claude, {}, said("make a title")));
    expect(key({ session_id: "1" })).not.toBe(key({ session_id: "1" }, { credential: "sk-2" }));
  });

  it("cannot be told before something was answered", () => {
    expect(key({}, {}, said("hi"))).toBeUndefined();
    expect(key({}, {}, said("hi", "hello"))).toBe(key({}, {}, said("hi", "hello", "more")));
    expect(key({}, {}, said("hi", "hello"))).not.toBe(key({}, {}, said("hi", "good day")));
    expect(key({}, {}, said("hi", "hello"))).not.toBe(key({}, { credential: "sk-2" }));
  });
});
