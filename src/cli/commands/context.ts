import { VarveError } from "../../domain/index.ts";
import { type Expansion, type TreeNode, textOfEntry, type Varve } from "../../engine.ts";
import { type CommonOptions, interruptible, withVarve } from "../context.ts";
import { number, table, when } from "../output.ts";

export interface ContextFlags extends CommonOptions {
  budget?: number;
  prompt?: string;
  instructions?: string;
}

const defaultBudget = 8_000;

export async function showCommand(name: string, flags: ContextFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.get(name);
    const overview = await varve.context.overview(session);
    const rows = overview.summaries.map((one) => [
      one.id,
      one.depth,
      one.tokens,
      one.sourceMessageCount,
      `${when(one.earliestAt)} – ${when(one.latestAt)}`,
    ]);
    output.show(
      rows.length === 0
        ? "Nothing is summarised yet."
        : table(["SUMMARY", "DEPTH", "TOKENS", "MESSAGES", "TIME"], rows),
    );
    output.show(
      `\n${number(overview.summaryTokens)} tokens of summaries, ${number(overview.rawTokens)} tokens of messages behind them`,
    );
    output.result(overview);
  });
}

export async function treeCommand(name: string, flags: ContextFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const tree = await varve.context.tree(await varve.sessions.get(name));
    output.show(
      tree.length === 0 ? "Nothing is summarised yet: `varve context compact SESSION --budget 8000`." : drawTree(tree),
    );
    output.result(tree);
  });
}

/** The DAG as lines, one a summary, the way `tree` draws folders. */
export function drawTree(nodes: TreeNode[], indent = ""): string {
  return nodes
    .map((node, index) => {
      const last = index === nodes.length - 1;
      const { summary } = node;
      const first = summary.content.split("\n")[0] ?? "";
      const line = `${indent}${last ? "└─" : "├─"} ${summary.id} depth ${summary.depth}, ${number(summary.sourceMessageCount)} messages, ${number(summary.sourceMessageTokens)} → ${number(summary.tokens)} tokens, ${when(summary.earliestAt)}: ${first.slice(0, 60)}`;
      const below = drawTree(node.children, `${indent}${last ? "   " : "│  "}`);
      return below === "" ? line : `${line}\n${below}`;
    })
    .join("\n");
}

export async function assembleCommand(name: string, flags: ContextFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.get(name);
    const view = await varve.context.assemble(session, {
      budgetTokens: flags.budget ?? defaultBudget,
      prompt: flags.prompt,
    });
    for (const message of view.messages) output.show(`${message.role}: ${textOfEntry({ type: "message", message })}\n`);
    const left = view.trace.filter((item) => !item.in).length;
    output.say(
      `${number(view.messages.length)} messages, about ${number(view.estimatedTokens)} tokens; ${number(left)} items left out (--json shows the trace).`,
    );
    output.result(view);
  });
}

export async function compactCommand(name: string, flags: ContextFlags): Promise<void> {
  const signal = interruptible();
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.get(name);
    const result = await varve.context.compact(session, {
      budgetTokens: flags.budget,
      instructions: flags.instructions,
      signal,
    });
    output.say(
      `${result.status}: ${number(result.tokensBefore)} → ${number(result.tokensAfter)} tokens by ${result.leafPasses} leaf and ${result.condensedPasses} condensed summaries${result.because ? ` (${result.because})` : ""}.`,
    );
    output.result(result);
    if (result.status === "busy")
      throw new VarveError("STORE_BUSY", "Another process compacts this conversation.", {
        remedy: "Wait for it to end.",
      });
  });
}

export interface OpenFlags extends CommonOptions {
  depth?: number;
  tokens?: number;
  messages?: boolean;
}

/** The summaries a name means: a summary itself, or those that stand in a session's context. */
async function summariesOf(varve: Varve, name: string): Promise<string[]> {
  if (/^sum_/.test(name)) return [name];
  const overview = await varve.context.overview(await varve.sessions.get(name));
  return overview.summaries.map((summary) => summary.id);
}

const nothingYet = "Nothing is summarised there yet: `varve context compact SESSION --budget 8000` does it.";

export async function describeCommand(name: string, flags: OpenFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const [id] = await summariesOf(varve, name);
    if (id === undefined) {
      output.say(nothingYet);
      output.result(null);
      return;
    }
    const described = await varve.context.describe(id, { tokenCap: flags.tokens });
    const { summary, subtree } = described;
    output.show(
      `${summary.id}: ${summary.kind}, depth ${summary.depth}, ${when(summary.earliestAt)} – ${when(summary.latestAt)}, written by ${summary.model ?? summary.level}`,
    );
    output.show(
      `stands for ${number(subtree.messages)} messages (${number(subtree.messageTokens)} tokens) by way of ${number(subtree.summaries)} summaries\n`,
    );
    output.show(summary.content);
    output.show(
      `\nmade from: ${described.sources.slice(0, 20).join(", ")}${described.sources.length > 20 ? `, … ${described.sources.length} in all` : ""}`,
    );
    output.result(described);
  });
}

export async function expandCommand(names: string[], flags: OpenFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const ids = (await Promise.all(names.map((name) => summariesOf(varve, name)))).flat();
    if (ids.length === 0) {
      output.say(nothingYet);
      output.result({ nodes: [], tokens: 0 });
      return;
    }
    const expansion = await varve.context.expand(ids, {
      maxDepth: flags.depth,
      tokenCap: flags.tokens,
      includeMessages: flags.messages,
    });
    output.show(drawExpansion(expansion.nodes));
    if (expansion.cut) output.say(`\n${expansion.cut}`);
    output.result(expansion);
  });
}

function drawExpansion(nodes: Expansion["nodes"], indent = ""): string {
  return nodes
    .map((node) => {
      const own = `${indent}${node.summary.id}\n${node.summary.content.replace(/^/gm, `${indent}  `)}`;
      const messages = node.messages.map(
        (entry) => `${indent}  msg#${entry.seq} ${when(entry.time)} ${textOfEntry(entry)}`,
      );
      return [own, ...messages, drawExpansion(node.children, `${indent}  `)].filter(Boolean).join("\n");
    })
    .join("\n");
}
