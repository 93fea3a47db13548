import { isJsonObject } from "../../domain/index.ts";
import type { Session, Varve } from "../../index.ts";
import type { StoreEntry } from "./store-entry.ts";

const tailEntries = 50;

/**
 * The id of the line after which a prompt begins another branch: the person went back in the conversation. Undefined for
 * every other line. Results of parallel tools also have earlier lines as parents, and are no branches.
 */
export async function findRewind(
  varve: Varve,
  session: Session,
  entry: StoreEntry,
  added: ReadonlySet<string>,
): Promise<string | undefined> {
  const parent = entry.parentUuid;
  if (typeof parent !== "string" || added.has(parent) || !isPrompt(entry)) return undefined;
  // A line that is sent again is known already.
  if (entry.uuid !== undefined && (await varve.transcripts.findSeqs(session, [entry.uuid])).size > 0) return undefined;
  const { entries } = await varve.transcripts.read(session, { limit: tailEntries, content: "reference" });
  const at = entries.findIndex(({ id }) => id === parent);
  // Lines of state may follow the last message.
  if (at !== -1) return entries.slice(at + 1).some(({ type }) => type === "message") ? parent : undefined;
  return (await varve.transcripts.findSeqs(session, [parent])).has(parent) ? parent : undefined;
}

function isPrompt({ type, message, isMeta, isCompactSummary }: StoreEntry): boolean {
  if (type !== "user" || isMeta === true || isCompactSummary === true || !isJsonObject(message)) return false;
  const { content } = message;
  return !Array.isArray(content) || !content.some((block) => isJsonObject(block) && block.type === "tool_result");
}
