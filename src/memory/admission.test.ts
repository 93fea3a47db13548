import { describe, expect, it } from "vitest";
import { type ConfigInput, loadConfig } from "../config/index.ts";
import { type AdmissionFacts, admissionPresets, admit, estimateConfidence, resolveAdmission } from "./admission.ts";

const facts = (more: Partial<AdmissionFacts> = {}): AdmissionFacts => ({
  category: "preferences",
  text: "alpha beta",
  spans: ["alpha beta"],
  pool: [],
  ...more,
});

describe("confidence", () => {
  it.each([
    // 0.7 * 1 + 0.3 * 1 - 0
    ["alpha beta", ["alpha beta"], 1],
    // Half is covered, the best span has F1 2/4: 0.35 + 0.15 - 0.125
    ["alpha beta gamma delta", ["alpha beta other words"], 0.375],
    ["alpha", ["omega"], 0],
    ["alpha", [], 0],
  ])("of %j in %j is %d", (text, spans, wanted) => {
    expect(estimateConfidence(text, spans)).toBeCloseTo(wanted, 10);
  });
});

describe("admission", () => {
  it("scores by the weighted sum of the features", () => {
    const found = admit(facts(), admissionPresets.balanced);
    expect(found.features).toEqual({ utility: 0.5, confidence: 1, novelty: 1, recency: 1, typePrior: 0.9 });
    // 0.05 + 0.1 + 0.1 + 0.1 + 0.54
    expect(found.score).toBeCloseTo(0.89, 10);
    expect(found).toMatchObject({ outcome: "admit", hint: "add" });
  });

  it("hints at a merge when there is a match, and uses the time since the newest", () => {
    const pool = [
      { similarity: 0.6, ageDays: 14 },
      { similarity: 0.56, ageDays: 400 },
      { similarity: 0.54, ageDays: 0 },
    ];
    const found = admit(facts({ pool }), admissionPresets.balanced);
    expect(found).toMatchObject({ outcome: "admit", hint: "update_or_merge" });
    expect(found.features.novelty).toBeCloseTo(0.4, 10);
    expect(found.features.recency).toBeCloseTo(0.5, 10);
  });

  // An event that the conversation does not support: 0.27 + 0.05 + 0 + novelty and recency by the pool.
  it.each([
    ["balanced", 0, "hold"],
    ["balanced", 0.99, "reject"],
    // 0.189 + 0.08 + 0 + 0.18 + 0.08 = 0.529
    ["conservative", 0, "hold"],
    ["conservative", 0.54, "reject"],
    ["high-recall", 0, "admit"],
    ["high-recall", 0.99, "reject"],
  ] as const)("by %s of a weak event with a match of %d: %s", (preset, similarity, outcome) => {
    const pool = similarity === 0 ? [] : [{ similarity, ageDays: 0 }];
    const weak = facts({ category: "events", spans: ["omega"], pool });
    expect(admit(weak, admissionPresets[preset]).outcome).toBe(outcome);
  });

  it("has weights that add up to one", () => {
    for (const { weights } of Object.values(admissionPresets)) {
      expect(Object.values(weights).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 10);
    }
  });
});

describe("the settings of admission", () => {
  const resolve = (overrides: ConfigInput) =>
    resolveAdmission(loadConfig({ home: "/nowhere", env: {}, overrides }).config);

  it("are those of the preset by default", () => {
    for (const preset of ["balanced", "conservative", "high-recall"] as const) {
      expect(resolve({ memory: { admission: preset } })).toEqual(admissionPresets[preset]);
    }
    expect(resolve({ memory: { admission: "off" } })).toBeUndefined();
  });

  it("change the outcome when overridden", () => {
    const admission = { admitFrom: 1, weights: { typePrior: 0.5 } };
    const preset = resolve({ memory: { admission: "balanced" }, advanced: { memory: { admission } } });
    expect(preset).toMatchObject({ admitFrom: 1, rejectBelow: 0.45, weights: { typePrior: 0.5, utility: 0.1 } });
    expect(admit(facts(), admissionPresets.balanced).outcome).toBe("admit");
    expect(preset && admit(facts(), preset).outcome).toBe("hold");
  });
});
