import { type Db, prepared, type RowsOf, type Store } from "../store/index.ts";
import { type Page, placeQuery, type Segment, tipOf, tipQuery, transcriptsQuery } from "../transcript/index.ts";
import type { ConversationRef } from "./dag.ts";
import { type StateRow, stateQuery } from "./frontier.ts";

/** Where a view of a conversation begins: what most of them need, read at once. */
export interface Opening {
  place: RowsOf<ReturnType<typeof openingQueries>>[0][number] | undefined;
  path: Segment[];
  state: StateRow | undefined;
  /** The newest entries, large content as references. */
  tail: Page;
}

/** As many as a view looks at first. */
export const openingEntries = 136;

const place = prepared(placeQuery);
// One more tells the parent of the first, and whether there is a page before.
const tip = prepared((db, ref: ConversationRef) => tipQuery(db, ref, openingEntries + 1));
const transcripts = prepared(transcriptsQuery);
const state = prepared(stateQuery);

export function openingQueries(db: Db, ref: ConversationRef) {
  return [place(db, ref), tip(db, ref), transcripts(db, ref), state(db, ref)] as const;
}

export async function openingOf(
  store: Store,
  ref: ConversationRef,
  [places, rows, ids, states]: RowsOf<ReturnType<typeof openingQueries>>,
): Promise<Opening> {
  const { path, page } = await tipOf(store, ref, places[0], rows, ids, openingEntries);
  return { place: places[0], path, state: states[0], tail: page };
}
