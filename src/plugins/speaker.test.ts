import { afterEach, describe, expect, it, vi } from "vitest";
import { checkSpeaker, pickSpeaker, toSpeakerAddress, warnWithoutSpeaker } from "./speaker.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("who speaks", () => {
  it("is a person of the channel app unless another one is named, or the owner", () => {
    expect(toSpeakerAddress({ peer: "ann" })).toEqual({ channel: "app", peer: "ann" });
    expect(toSpeakerAddress({ peer: "U1", channel: "slack" })).toEqual({ channel: "slack", peer: "U1" });
    expect(toSpeakerAddress({ owner: true })).toEqual({ channel: "app", owner: true });
    expect(toSpeakerAddress({ peer: "ann", owner: false })).toEqual({ channel: "app", peer: "ann" });
    expect(toSpeakerAddress({})).toBeUndefined();
  });

  it.each([{ peer: undefined }, { peer: "" }, { peer: null }, { peer: 7 }, { channel: "app" }, { owner: "yes" }])(
    "is refused when it names nobody: %j",
    (options) => {
      expect(() => checkSpeaker(options)).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
    },
  );

  it("is missing, not absent, when the given peer has no id", () => {
    expect("peer" in pickSpeaker({ peer: undefined })).toBe(true);
    expect("peer" in pickSpeaker({})).toBe(false);
  });

  it("is asked for once when it is not said", () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    warnWithoutSpeaker("a host", { peer: "ann" });
    warnWithoutSpeaker("a host", { owner: true });
    expect(warn).not.toHaveBeenCalled();
    for (let time = 1; time <= 3; time += 1) warnWithoutSpeaker("a host", {});
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(/a host is not told who speaks.*peer.*owner: true/s),
        expect.objectContaining({ code: "VARVE_NO_PERSON" }),
      ],
    ]);
  });
});
