import type { Hints } from "./fuse.ts";
import type { Retrieval } from "./retrieve.ts";
import { isSpokenBy } from "./speaker.ts";
import { scoreTimeFit, type TimeSpan } from "./time/time-span.ts";

/** What the query says beside its words: who spoke, that it is about the asker, when it was. */
export function makeRankingHints(found: Retrieval, time: TimeSpan | undefined): Hints {
  const { pool, parsed } = found;
  return {
    speaker: pool.docs.map((doc) => parsed.terms.some(({ term }) => isSpokenBy(doc, term))),
    firstPerson: pool.docs.map((doc) => parsed.aboutSelf && doc.role === "user"),
    ...(time ? { time: pool.docs.map((doc) => scoreTimeFit(time, doc.time)) } : {}),
  };
}
