import { describe, expect, it } from "vitest";
import { detectLanguage } from "../../text/index.ts";
import { prepareWordSets } from "../compare/word-sets.ts";
import { scoreExperience } from "./experiences.ts";

const score = (sentence: string) => scoreExperience(sentence, prepareWordSets(detectLanguage(sentence))) ?? 0;
/** From this score on a sentence between people is kept. */
const keptFrom = 1.1;

describe("what people tell about their lives", () => {
  it.each([
    "I signed up for a pottery class yesterday.",
    "We were all scared when my son got into an accident.",
    "Last Friday, I went to a counseling workshop in Boston.",
    "Ich habe gestern mit meiner Schwester in Kiel Tennis gespielt.",
    "Вчера я купил новый велосипед в Омске.",
    "我昨天和姐姐去了北京的博物馆。",
  ])("is kept: %s", (sentence) => {
    expect(score(sentence)).toBeGreaterThanOrEqual(keptFrom);
  });

  it.each([
    "I think that is a great idea!",
    "I'm so happy for you, Caroline!",
    "The key is to keep your hair nourished.",
    "I can't wait.",
    "Did I tell you about my trip to Rome last year?",
    "I ran `npm test` in src/app.ts and it failed.",
    "I get an error in line 12 of main.py.",
    "I need help with my homework.",
    "Here is what I have so far:",
    "You should visit Paris in spring.",
    "I love that!",
    "Ich denke, das ist eine gute Idee.",
  ])("is not: %s", (sentence) => {
    expect(score(sentence)).toBeLessThan(keptFrom);
  });
});
