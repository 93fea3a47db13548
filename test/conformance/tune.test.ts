import { expect, test } from "vitest";
import { onEveryEngine } from "../support/engines.ts";
import { WordEmbedder } from "../support/word-embedder.ts";

const embedder = new WordEmbedder({});
const hour = 3_600_000;
/** Weights with which a reply next to a matching question is not found first. */
const config = { advanced: { search: { weights: { answer: 0 } } } };

onEveryEngine(
  "learning weights",
  (get) => {
    const places = "attic cellar garage kitchen office".split(" ");

    /** Each question is asked, answered, and asked again a day later. */
    const fill = async (agent: string, count: number) => {
      const session = await get().varve.sessions.resolve({ key: `agent:${agent}:test:direct:ann` });
      const start = get().clock.now() - 1_000 * hour;
      const ask = (index: number) => `Which shelf holds alpha${index} beta${index} gamma${index}?`;
      for (const round of [0, 1]) {
        await get().varve.context.ingest(
          session,
          Array.from({ length: count }, (_, index) => index).flatMap((index) => {
            const time = start + round * 100 * hour + index * hour;
            const reply = `It stands in the ${places[index % places.length]}.`;
            return [
              { id: `q${round}-${index}`, role: "user" as const, content: ask(index), time },
              { id: `a${round}-${index}`, role: "assistant" as const, content: reply, time: time + 1_000 },
            ];
          }),
        );
      }
      await get().varve.search.index({ agent });
    };

    test("too few examples change nothing", async () => {
      await fill("short", 5);
      const result = await get().varve.search.tune({ agent: "short" });
      expect(result).toMatchObject({ outcome: "too few examples", examples: { askedAgain: 5, corrected: 0 } });
      expect(await get().varve.search.learned()).toBeUndefined();
    });

    test("weights are fitted to repeated questions, checked with the newest, and undone", async () => {
      await fill("long", 40);
      const dry = await get().varve.search.tune({ agent: "long", dryRun: true });
      expect(dry.examples.askedAgain).toBe(40);
      expect(await get().varve.search.learned()).toBeUndefined();
      const result = await get().varve.search.tune({ agent: "long" });
      expect(result.learned).toEqual({ ...dry.learned, learnedAt: result.learned?.learnedAt });
      // The outcome follows from the measurement, whichever it is.
      const gain = (result.learned?.after ?? 0) - (result.learned?.before ?? 0);
      expect(result.outcome).toBe(gain >= 0.01 ? "learned" : "not better");
      expect(await get().varve.search.learned()).toEqual(gain >= 0.01 ? result.learned : undefined);
      expect(await get().varve.search.forgetLearned()).toBe(gain >= 0.01);
      expect(await get().varve.search.learned()).toBeUndefined();
    });
  },
  { models: { embedder }, config },
);
