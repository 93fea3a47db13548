import { type JsonObject, VarveError } from "../domain/index.ts";
import { indexWords, type LogRow, type Store } from "../store/index.ts";
import { parseBody, parsePayload, referenceTo, type StoredEntry } from "./codec.ts";
import { readFileContents, readFileHeads } from "./large-content/files.ts";
import { filesIn, movedIn, referMoved, restoreMoved } from "./large-content/moved.ts";
import { getEntryText } from "./text.ts";

/** Whether large content comes back whole, or as the reference that a model sees. */
export type ContentForm = "original" | "reference";

/** Parses rows and puts back, or refers to, what was moved aside. */
export async function readPayloads(
  store: Pick<Store, "db">,
  agent: string,
  rows: readonly Pick<StoredEntry, "seq" | "payload">[],
  form: ContentForm,
): Promise<JsonObject[]> {
  const payloads = rows.map(parsePayload);
  const ids = [...new Set(payloads.flatMap((payload) => filesIn(movedIn(payload))))];
  if (ids.length === 0) return payloads;
  if (form === "reference") {
    const heads = await readFileHeads(store.db, agent, ids);
    return payloads.map((payload) => referMoved(payload, (id) => referenceTo(id, heads)));
  }
  const contents = await readFileContents(store.db, agent, ids);
  return payloads.map((payload) => restoreMoved(payload, (id) => contents.get(id) ?? missing(id)));
}

function missing(id: string): never {
  throw new VarveError("STORE_CORRUPT", `The content of ${id} is missing from the store.`, {
    remedy: "Run `varve doctor`; a backup may hold it (`varve restore FILE`).",
  });
}

/** What the text index holds for rows of the log: the words of the whole content, wherever it is kept. */
export async function indexWordsForRows(store: Pick<Store, "db">, rows: LogRow[]): Promise<string[]> {
  const words: string[] = [];
  for (const { agent, kind, payload } of rows) {
    const [whole] = await readPayloads(store, agent, [{ seq: 0, payload }], "original");
    words.push(whole ? indexWords(getEntryText(parseBody(kind, whole))) : "");
  }
  return words;
}
