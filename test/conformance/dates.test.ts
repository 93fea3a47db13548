/** A day that is named in a question is the day that is named in a fact, in every language and zone. */
import { expect, test } from "vitest";
import { formatDay } from "../../src/domain/index.ts";
import { HandClock, onEveryEngine } from "../support/engines.ts";

/** The words of a language for yesterday and for last week, in a question. */
const languages = [
  ["en", "yesterday", "last week"],
  ["de", "gestern", "letzte Woche"],
  ["fr", "hier", "la semaine dernière"],
  ["es", "ayer", "la semana pasada"],
  ["it", "ieri", "la settimana scorsa"],
  ["pt", "ontem", "semana passada"],
  ["ru", "вчера", "на прошлой неделе"],
  ["zh", "昨天", "上周"],
  ["ja", "昨日", "先週"],
  ["ko", "어제", "지난주"],
] as const;

/** A Wednesday at 18:00, 08:00 and 12:00 there: the day is another one in UTC in the first two. */
const zones = [
  ["America/Los_Angeles", Date.UTC(2026, 5, 18, 1), "2026-06-16", "2026-06-08"],
  ["Asia/Tokyo", Date.UTC(2026, 5, 16, 23), "2026-06-16", "2026-06-08"],
  ["UTC", Date.UTC(2026, 5, 17, 12), "2026-06-16", "2026-06-08"],
] as const;

onEveryEngine("a day that is named", (get) => {
  test.each(zones)("is that of the person in %s", async (timezone, now, yesterday, monday) => {
    const agent = `days-${timezone.replace(/\W/g, "-").toLowerCase()}`;
    const config = { agent, timezone, search: { embedder: "none" as const } };
    const varve = await get().another({ clock: new HandClock(now), config });
    for (const [language, day, week] of languages) {
      const name = `${timezone} ${language}`;
      const { understood } = await varve.search.find(day);
      expect(formatDay(understood.time?.from ?? 0, timezone), name).toBe(yesterday);
      expect(formatDay((understood.time?.to ?? 0) - 1, timezone), name).toBe(yesterday);
      const { current } = await varve.memory.add({ text: `Ann (${language}): ${day}`, force: true });
      expect(current.content, name).toBe(`Ann (${language}): ${day} (${yesterday})`);

      const weekly = (await varve.search.find(week)).understood.time;
      expect(formatDay(weekly?.from ?? 0, timezone), name).toBe(monday);
      expect(((weekly?.to ?? 0) - (weekly?.from ?? 0)) / 86_400_000, name).toBe(7);
    }
  });
});
