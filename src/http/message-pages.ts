import type { Entry } from "../domain/index.ts";
import type { Varve } from "../index.ts";

type Session = Parameters<Varve["transcripts"]["read"]>[0];

export interface MessagePage {
  entries: Entry[];
  before?: number;
  after?: number;
}

/** Reads the entries of a session in pages, backwards, forwards, or around a place. */
export interface PageReader {
  readBefore(before: number | undefined): Promise<MessagePage>;
  readAfter(after: number): Promise<MessagePage>;
  readAround(seq: number): Promise<MessagePage>;
}

interface PageOptions {
  /** Whether entries that are not messages are included. */
  all: boolean;
  limit: number;
  content?: "original" | "reference";
  /** Another branch than the active one. */
  branch?: number;
}

/** So many pages are read at most to find messages among other entries; the cursor tells where to continue. */
const pagesMax = 20;
const pageMin = 100;

export function createPageReader(varve: Varve, session: Session, options: PageOptions): PageReader {
  const { transcripts } = varve;
  const { all, limit, content, branch } = options;
  const size = all ? limit : Math.max(limit, pageMin);
  const isWanted = (entry: Entry): boolean => all || entry.type === "message";

  const readBefore = async (from: number | undefined, wanted = limit): Promise<MessagePage> => {
    let entries: Entry[] = [];
    let before = from;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const page = await transcripts.read(session, { limit: Math.min(size, 1000), before, content, branch });
      entries = [...page.entries.filter(isWanted), ...entries];
      before = page.before;
      if (entries.length >= wanted || before === undefined) break;
    }
    const kept = wanted === 0 ? [] : entries.slice(-wanted);
    return { entries: kept, before: kept.length < entries.length ? (kept[0]?.seq ?? from) : before };
  };

  const readAfter = async (from: number, wanted = limit): Promise<MessagePage> => {
    let entries: Entry[] = [];
    let after: number | undefined = from;
    for (let pages = 0; pages < pagesMax && after !== undefined; pages += 1) {
      const page: MessagePage = await transcripts.readForward(session, {
        after,
        limit: Math.min(size, 1000),
        content,
        branch,
      });
      entries = [...entries, ...page.entries.filter(isWanted)];
      after = page.after;
      if (entries.length >= wanted) break;
    }
    const kept = entries.slice(0, wanted);
    return { entries: kept, after: kept.length < entries.length ? kept.at(-1)?.seq : after };
  };

  return {
    readBefore: (before) => readBefore(before),
    readAfter: (after) => readAfter(after),
    async readAround(seq) {
      const half = Math.ceil(limit / 2);
      const newer = await readAfter(seq - 1, half);
      const older = await readBefore(seq, limit - Math.min(half, newer.entries.length));
      return { entries: [...older.entries, ...newer.entries], before: older.before, after: newer.after };
    },
  };
}
