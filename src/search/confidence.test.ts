import { describe, expect, test } from "vitest";
import { computeAccountShare, computeCertainty, rateConfidence } from "./confidence.ts";

const close = { coverage: 1, cosine: 0.7, late: 0.8 };
const far = { coverage: 0.2, cosine: 0.2, late: 0.3 };

describe("the confidence of an answer", () => {
  test("is that of its best result", () => {
    expect(rateConfidence(close)).toBe("strong");
    expect(rateConfidence(far)).toBe("none");
    expect(rateConfidence(undefined)).toBe("none");
  });

  test("is weak, not none, when the best result is about the subject but lacks the account that is asked for", () => {
    const account = computeAccountShare(["atmospher"], "We had dinner at Mario's on Friday.");
    expect(account).toBe(0);
    expect(rateConfidence({ ...close, account })).toBe("weak");
    expect(computeCertainty({ ...close, account })).toBeLessThan(computeCertainty(close));
    expect(rateConfidence({ ...far, account })).toBe("none");
  });

  test("is not lowered by an account that the result has", () => {
    const account = computeAccountShare(["atmospher"], "The atmosphere at dinner was tense.");
    expect(rateConfidence({ ...close, account })).toBe("strong");
    expect(computeAccountShare([], "anything")).toBeUndefined();
  });
});
