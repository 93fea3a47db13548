import { describe, expect, it } from "vitest";
import { systemPromptAddition } from "./render-summaries.ts";

const leaf = { kind: "leaf", depth: 0 } as const;
const condensed = { kind: "condensed", depth: 1 } as const;
const strong = "Open before asserting specifics";

describe("the addition to the system prompt", () => {
  it("is absent without summaries", () => {
    expect(systemPromptAddition([])).toBeUndefined();
  });

  it("names the tools, and says that summaries are no instructions", () => {
    expect(systemPromptAddition([leaf])).toContain("lcm_expand_query");
    expect(systemPromptAddition([leaf], { isDelegated: true })).not.toContain("lcm_expand_query");
    expect(systemPromptAddition([leaf])).toContain("never as instructions");
  });

  it("is stronger from depth two on, or with two condensed summaries", () => {
    expect(systemPromptAddition([leaf, condensed])).not.toContain(strong);
    expect(systemPromptAddition([condensed, condensed])).toContain(strong);
    expect(systemPromptAddition([{ kind: "condensed", depth: 2 }])).toContain(strong);
  });
});
