import { fromPi, toPlainText } from "../../domain/index.ts";
import type { Session, Varve } from "../../index.ts";
import type { BeforeCompact, PiCompaction, PiEntry } from "./pi-types.ts";

const keepRecentTokensDefault = 20_000;
/** The share of the kept part that the summaries may use. */
const summaryShare = 0.5;
const requestCharactersMax = 8_000;
const toolHint =
  "Every message of this session is kept. lcm_grep finds words in them, lcm_describe and lcm_expand_query open what a summary stands for.";

/**
 * The compaction that pi stores instead of one by its model: the summaries of everything before the first kept entry.
 * Undefined when there is nothing to summarise, so that pi does it itself.
 */
export async function createCompaction(
  varve: Varve,
  session: Session,
  { preparation, branchEntries, customInstructions, signal }: BeforeCompact,
): Promise<PiCompaction | undefined> {
  const keptTokens = preparation.settings?.keepRecentTokens ?? keepRecentTokensDefault;
  await varve.context.compact(session, {
    budgetTokens: keptTokens,
    splitTurns: true,
    ...(customInstructions ? { instructions: customInstructions } : {}),
    ...(signal ? { signal } : {}),
  });
  const prefix = await varve.context.summaryPrefix(session, { budgetTokens: Math.floor(keptTokens * summaryShare) });
  if (prefix.coveredId === undefined || prefix.summaries.length === 0) return undefined;
  const firstKept = findFirstKept(branchEntries, prefix.coveredId);
  if (firstKept === undefined) return undefined;
  const request = restateRequest(branchEntries, firstKept);
  const summary = [toolHint, ...prefix.summaries.map(({ text }) => text), ...request].join("\n\n");
  return {
    summary,
    firstKeptEntryId: firstKept,
    tokensBefore: preparation.tokensBefore,
    details: { by: "varve", summaries: prefix.summaries.map(({ id }) => id) },
  };
}

/** The first entry after the summaries where pi can cut: a message that is no tool result. */
function findFirstKept(entries: readonly PiEntry[], coveredId: string): string | undefined {
  const covered = entries.findIndex(({ id }) => id === coveredId);
  if (covered === -1) return undefined;
  // A result stays with its call: the cut moves back to the message with the call.
  let first = entries.findIndex(({ type }, index) => index > covered && isMessage(type));
  if (first === -1) return undefined;
  while (first > 0 && entries[first]?.message?.role === "toolResult") first -= 1;
  return entries[first]?.id;
}

/** The request that the model works on, when it is not among the kept messages. */
function restateRequest(entries: readonly PiEntry[], firstKept: string): string[] {
  const from = entries.findIndex(({ id }) => id === firstKept);
  const asked = entries.findLastIndex(({ message }) => message?.role === "user");
  const message = entries[asked]?.message;
  if (message === undefined || asked >= from) return [];
  const text = toPlainText(fromPi(message).content);
  const shown =
    text.length <= requestCharactersMax ? text : `${text.slice(0, requestCharactersMax).toWellFormed()} […]`;
  return [`The request that is being worked on:\n${shown}`];
}

function isMessage(type: string): boolean {
  return type === "message" || type === "custom_message" || type === "branch_summary";
}
