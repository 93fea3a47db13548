import type { Store } from "../../../store/index.ts";
import { readFileContents } from "../../../transcript/index.ts";
import type { CompiledGrep, Found, GrepMatch } from "./grep-types.ts";
import { snippetAround } from "./grep-types.ts";

/** Searches files one at a time, because each is large. A match names its line. */
export async function grepFiles(store: Store, hunt: CompiledGrep): Promise<Found> {
  let query = store.db
    .selectFrom("file_refs")
    .innerJoin("entries", (join) =>
      join.onRef("entries.agent", "=", "file_refs.agent").onRef("entries.seq", "=", "file_refs.seq"),
    )
    .select((eb) => ["file_refs.file", eb.fn.max("entries.seq").as("seq"), eb.fn.max("entries.time").as("time")])
    .select((eb) => eb.fn.max("entries.conversation").as("conversation"))
    .where("file_refs.agent", "=", hunt.agent)
    .groupBy("file_refs.file");
  if (hunt.conversations !== undefined) query = query.where("file_refs.conversation", "in", hunt.conversations);
  if (hunt.since !== undefined) query = query.where("entries.time", ">=", hunt.since);
  if (hunt.before !== undefined) query = query.where("entries.time", "<", hunt.before);
  const files = await query.execute();
  files.sort((a, b) => Number(b.seq) - Number(a.seq));
  const matches: GrepMatch[] = [];
  let searched = 0;
  for (const row of files) {
    hunt.signal?.throwIfAborted();
    const content = (await readFileContents(store.db, hunt.agent, [row.file])).get(row.file);
    if (content === undefined) continue;
    searched += 1;
    const place = hunt.find(content);
    if (!place) continue;
    if (matches.length === hunt.limit) return { matches, searched, more: true };
    const line = content.slice(0, place.from).split("\n").length;
    const snippet = `line ${line}: ${snippetAround(content, place.from, place.to)}`.slice(0, 200);
    const { file: citation } = row;
    const [conversation, time] = [Number(row.conversation), Number(row.time)];
    matches.push({ kind: "file", citation, conversation, time, snippet, score: 0.5 });
  }
  return { matches, searched, more: false };
}
