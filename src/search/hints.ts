import type { Hints } from "./fuse.ts";
import type { Retrieval } from "./retrieve.ts";
import { isSpokenBy } from "./speaker.ts";
import { fitOf, type TimeSpan } from "./time/understand.ts";

/** What the query says beside its words: who spoke, that it is about the asker, when it was. */
export function hintsOf(found: Retrieval, time: TimeSpan | undefined): Hints {
  const { pool, parsed } = found;
  return {
    speaker: pool.docs.map((doc) => parsed.terms.some(({ term }) => isSpokenBy(doc, term))),
    firstPerson: pool.docs.map((doc) => parsed.aboutSelf && doc.role === "user"),
    ...(time ? { time: pool.docs.map((doc) => fitOf(time, doc.time)) } : {}),
  };
}
