import type { AssembleRequest, ContextView, Session, Varve } from "../../index.ts";

/** The share of the budget that a compaction aims at, so that the next steps fit too. */
const compactedShare = 0.6;

/**
 * Assembles a view for a host that has no other moment for a compaction, such as a long loop of tools: messages that
 * would be left out are summarised first.
 */
export async function assembleFitting(
  varve: Varve,
  session: Session,
  request: AssembleRequest & { budgetTokens: number },
): Promise<ContextView> {
  const { budgetTokens, model } = request;
  const view = await varve.context.assemble(session, request);
  if (view.contextTokens <= budgetTokens) return view;
  await varve.context.compact(session, { budgetTokens: Math.floor(budgetTokens * compactedShare), model });
  return varve.context.assemble(session, request);
}
