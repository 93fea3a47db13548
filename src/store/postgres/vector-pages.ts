import { sql } from "kysely";
import type { VectorPage, VectorPageQuery } from "../port.ts";
import type { Db } from "../schema.ts";
import { createVectorPage, setVectorRow } from "../vector-page.ts";

export async function readVectors(db: Db, query: VectorPageQuery): Promise<VectorPage> {
  const { agent, space, conversation, after, upTo, dimensions, limit } = query;
  let select = db
    .selectFrom("entry_vectors")
    .select(["seq", "conversation", "time", "vector"])
    .where("agent", "=", agent)
    .where("space", "=", space)
    .where("seq", ">", after)
    .where("seq", "<=", upTo)
    .where(sql<boolean>`length(vector) = ${dimensions}`)
    .orderBy("seq", "desc")
    .limit(limit);
  if (conversation !== undefined) select = select.where("conversation", "=", conversation);
  const rows = await select.execute();
  const page = createVectorPage(rows.length, dimensions);
  for (const [index, row] of rows.entries()) setVectorRow(page, index, row);
  return page;
}
