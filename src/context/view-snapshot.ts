import { type BatchRows, type Db, prepareQuery, type Store } from "../store/index.ts";
import { headQuery, type Page, readTip, type Segment, tipQuery, transcriptsQuery } from "../transcript/index.ts";
import type { ConversationRef } from "./dag.ts";
import { type StateRow, stateQuery } from "./frontier.ts";

/** Where a view of a conversation begins: what most of them need, read at once. */
export interface ViewSnapshot {
  place: BatchRows<ReturnType<typeof viewSnapshotQueries>>[0][number] | undefined;
  path: Segment[];
  state: StateRow | undefined;
  /** The newest entries, large content as references. */
  tail: Page;
}

/** As many as a view looks at first. */
export const viewSnapshotEntries = 136;

const place = prepareQuery(headQuery);
// One more tells the parent of the first, and whether there is a page before.
const tip = prepareQuery((db, ref: ConversationRef) => tipQuery(db, ref, viewSnapshotEntries + 1));
const transcripts = prepareQuery(transcriptsQuery);
const state = prepareQuery(stateQuery);

export function viewSnapshotQueries(db: Db, ref: ConversationRef) {
  return [place(db, ref), tip(db, ref), transcripts(db, ref), state(db, ref)] as const;
}

export async function readViewSnapshot(
  store: Store,
  ref: ConversationRef,
  [places, rows, ids, states]: BatchRows<ReturnType<typeof viewSnapshotQueries>>,
): Promise<ViewSnapshot> {
  const { path, page } = await readTip(store, ref, places[0], rows, ids, viewSnapshotEntries);
  return { place: places[0], path, state: states[0], tail: page };
}
