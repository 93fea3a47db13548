import { describe, expect, it } from "vitest";
import { readTraits } from "./message-traits.ts";

const read = (text: string) => readTraits({}, text);

describe("the traits of a message", () => {
  it("rate how much of it is told at first hand", () => {
    for (const text of [
      "I signed up for a pottery class.",
      "We've moved to Lyon",
      "Ich habe Yoga angefangen.",
      "我买了一辆车",
    ]) {
      expect(read(text).firstHand, text).toBe(1);
    }
    for (const text of ["I think that's great!", "I'm sure it will work", "Tell me.", "Ich glaube das auch."]) {
      expect(read(text).firstHand, text).toBe(0.5);
    }
    for (const text of ["That sounds wonderful!", "Mia lives in Ohio", ""]) {
      expect(read(text).firstHand, text).toBe(0);
    }
  });

  it("recognise a question at the end, and a reaction at the beginning", () => {
    expect(read('Nice! What did you do "there?" ')).toMatchObject({ isQuestion: true, isReaction: true });
    expect(read("Why? Because it rained.")).toMatchObject({ isQuestion: false, isReaction: false });
    expect(read("谢谢，明天见").isReaction).toBe(true);
    // A word that only begins like one.
    expect(read("Okinawa was warm").isReaction).toBe(false);
  });

  it("recognise what holds from now on, and preferences", () => {
    for (const text of [
      "Always format dates as DD/MM/YYYY when I ask about deadlines.",
      "Got it. Please never use emojis.",
      "From now on, answer in French",
      "Include the narrator whenever I ask about audiobooks",
      "I'd really prefer short answers",
      "I would rather use tabs.",
      "Bitte immer mit Quellen antworten.",
      "Je préfère les trains.",
      "以后 请用中文回答",
    ]) {
      expect(read(text).isStandingRequest, text).toBe(true);
    }
    for (const text of [
      "I have never been to Rome.",
      "She always wins.",
      "When I asked him, he left.",
      "The preferred size is 4.",
    ]) {
      expect(read(text).isStandingRequest, text).toBe(false);
    }
    expect(read(`Always use tabs. ${"x".repeat(2_000)}`).isStandingRequest).toBe(false);
  });
});
