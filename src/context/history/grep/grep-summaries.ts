import type { Store } from "../../../store/index.ts";
import type { CompiledGrep, Found, GrepMatch } from "./grep-types.ts";
import { snippetAround } from "./grep-types.ts";

const pageRows = 500;

/** Searches the summaries. All are read: there are few compared with the messages. */
export async function grepSummaries(store: Store, hunt: CompiledGrep): Promise<Found> {
  const matches: GrepMatch[] = [];
  let searched = 0;
  for (let after: { at: number; id: string } | undefined; ; ) {
    hunt.signal?.throwIfAborted();
    let query = store.db
      .selectFrom("summaries")
      .select(["id", "conversation", "content", "latest_at"])
      .where("agent", "=", hunt.agent);
    if (hunt.conversations !== undefined) query = query.where("conversation", "in", hunt.conversations);
    if (hunt.since !== undefined) query = query.where("latest_at", ">=", hunt.since);
    if (hunt.before !== undefined) query = query.where("earliest_at", "<", hunt.before);
    if (after !== undefined) {
      const { at, id } = after;
      query = query.where((where) =>
        where.or([where("latest_at", "<", at), where.and([where("latest_at", "=", at), where("id", ">", id)])]),
      );
    }
    const rows = await query.orderBy("latest_at", "desc").orderBy("id").limit(pageRows).execute();
    for (const row of rows) {
      searched += 1;
      const place = hunt.find(row.content);
      if (!place) continue;
      if (matches.length === hunt.limit) return { matches, searched, more: true };
      const snippet = snippetAround(row.content, place.from, place.to);
      const { id: citation, conversation, latest_at: time } = row;
      matches.push({ kind: "summary", citation, conversation, time, snippet, score: 0.5 });
    }
    const last = rows.at(-1);
    if (!last || rows.length < pageRows) return { matches, searched, more: false };
    after = { at: last.latest_at, id: last.id };
  }
}
