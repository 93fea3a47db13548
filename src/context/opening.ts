import type { Db, RowsOf, Store } from "../store/index.ts";
import { type Page, placeQuery, type Segment, tipOf, tipQuery, transcriptsQuery } from "../transcript/index.ts";
import type { ConversationRef } from "./dag.ts";
import { type StateRow, stateQuery } from "./frontier.ts";

/** Where a view of a conversation begins: what most of them need, read at once. */
export interface Opening {
  path: Segment[];
  state: StateRow | undefined;
  /** The newest entries, large content as references. */
  tail: Page;
}

/** As many as a view looks at first. */
export const openingEntries = 136;

export function openingQueries(db: Db, ref: ConversationRef) {
  return [
    placeQuery(db, ref),
    // One more tells the parent of the first, and whether there is a page before.
    tipQuery(db, ref, openingEntries + 1),
    transcriptsQuery(db, ref),
    stateQuery(db, ref),
  ] as const;
}

export async function openingOf(
  store: Store,
  ref: ConversationRef,
  [places, rows, transcripts, states]: RowsOf<ReturnType<typeof openingQueries>>,
): Promise<Opening> {
  const { path, page } = await tipOf(store, ref, places[0], rows, transcripts, openingEntries);
  return { path, state: states[0], tail: page };
}
