import { describe, expect, it } from "vitest";
import { anthropicFormat } from "./anthropic/format.ts";
import { Continuations } from "./continuations.ts";
import type { Unit } from "./wire.ts";

const unit = (role: string, content: string): Unit => ({ wires: [{ role, content }] });
const summary = "The archive moved to the harbour in May.\nThe keys are with the night watch, behind the lamp.";
const reply = unit(
  "assistant",
  `<analysis>\nThere was much talk about all of it.\n</analysis>\n<summary>\n${summary}\n</summary>`,
);

describe("a conversation that a client compacted by itself", () => {
  it("is known by the summary it begins with", () => {
    const known = new Continuations();
    known.record("client", "old", anthropicFormat, reply);
    const begins = unit("user", `This session is being continued.\n\nSummary:\n${summary}\nGo on.`);
    expect(known.find("client", "new", anthropicFormat, begins)).toBe("old");
    expect(known.find("another client", "new", anthropicFormat, begins)).toBeUndefined();
    expect(known.find("client", "old", anthropicFormat, begins)).toBeUndefined();
  });

  it("is not taken for one that says something else", () => {
    const known = new Continuations();
    known.record("client", "old", anthropicFormat, reply);
    known.record("client", "short", anthropicFormat, unit("assistant", "OK."));
    expect(known.find("client", "new", anthropicFormat, unit("user", "OK. Make a title."))).toBeUndefined();
  });
});
