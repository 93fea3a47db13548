import { groupOwners, localChannel, type Owners } from "../authorization/index.ts";
import type { Config } from "../config/index.ts";
import { foldCase, VarveError } from "../domain/index.ts";
import { prepareQuery, type Store } from "../store/index.ts";

export const ownerRows = prepareQuery((db, { agent }: { agent: string }) =>
  db.selectFrom("owners").select(["channel", "peer"]).where("agent", "=", agent),
);

/** The owner's ids by channel: those of the database and those of the settings. */
export async function readOwners(store: Store, settings: Pick<Config, "turn">, agent: string): Promise<Owners> {
  const [rows] = await store.readBatch([ownerRows(store.db, { agent })]);
  return mergeOwners(settings, rows);
}

export function mergeOwners(
  { turn }: Pick<Config, "turn">,
  rows: readonly { channel: string; peer: string }[],
): Owners {
  return groupOwners(rows, turn.owners);
}

/** Names an id as the owner's; returns whether it was not named before. */
export async function addOwner(
  store: Store,
  { agent, channel, id, by }: { agent: string; channel: string; id: string; by: string },
): Promise<boolean> {
  const row = { ...checkOwner(channel, id), agent, added_by: by, added_at: store.clock.now() };
  const result = await store.transaction(({ db }) =>
    db
      .insertInto("owners")
      .values(row)
      .onConflict((conflict) => conflict.columns(["agent", "channel", "peer"]).doNothing())
      .executeTakeFirst(),
  );
  return Number(result.numInsertedOrUpdatedRows ?? 0) > 0;
}

/** Checks the owner's id as somebody gives it. */
export function checkOwner(channel: string, id: string): { channel: string; peer: string } {
  for (const [name, value] of [
    ["channel", channel],
    ["id", id],
  ] as const) {
    const isText = typeof value === "string" && value.isWellFormed() && !value.includes("\0");
    if (!isText || value.trim() === "" || value.length > 512) {
      throw new VarveError("BAD_REQUEST", `The ${name} of the owner is empty, too long or not a text.`, {
        remedy: `Name the channel and your id in it, such as telegram 5054873275; ${localChannel} for a program of yours without a channel.`,
      });
    }
  }
  return { channel: foldCase(channel), peer: id };
}
