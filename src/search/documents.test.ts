import { expect, test } from "vitest";
import { type CachedDoc, createDocumentLru } from "./documents.ts";

function documentsOf(agent: string, characters: number): { docs: ReadonlyMap<string, CachedDoc> } {
  const doc = { key: agent, kind: "summary", id: agent, conversation: null, branch: 0, time: 0, tokens: 0 } as const;
  return { docs: new Map([[agent, { doc: { ...doc, role: "", speaker: "", text: "x".repeat(characters) } }]]) };
}

test("documents of the agents that were not searched for longest are evicted", () => {
  const cache = createDocumentLru(10_000);
  for (const agent of ["a", "b", "c"]) {
    cache.set(agent, documentsOf(agent, 2_000));
    cache.get("a");
  }
  expect([...cache.keys()].sort()).toEqual(["a", "c"]);
});

test("an agent that is larger than the limit stays until another is searched", () => {
  const cache = createDocumentLru(10_000);
  cache.set("large", documentsOf("large", 50_000));
  expect(cache.has("large")).toBe(true);
  cache.set("small", documentsOf("small", 10));
  expect([...cache.keys()]).toEqual(["small"]);
});
