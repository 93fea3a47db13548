import { VarveError } from "../../domain/index.ts";
import {
  type Description,
  type Expansion,
  getEntryText,
  type Session,
  type TreeNode,
  type Varve,
} from "../../index.ts";
import { type CommonOptions, listenForInterrupt, withVarve } from "../context.ts";
import { number, table, when } from "../output.ts";

export interface ContextFlags extends CommonOptions {
  budget?: number;
  prompt?: string;
  instructions?: string;
  /** A number of tokens, or true for the number of the settings. */
  keepRecent?: number | true;
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
        ? "There are no summaries yet."
        : table(["SUMMARY", "DEPTH", "TOKENS", "MESSAGES", "TIME"], rows),
    );
    output.show(
      `\n${number(overview.summaryTokens)} tokens of summaries, ${number(overview.rawTokens)} tokens of messages after them`,
    );
    output.result(overview);
  });
}

export async function treeCommand(name: string, flags: ContextFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const tree = await varve.context.tree(await varve.sessions.get(name));
    output.show(
      tree.length === 0
        ? "There are no summaries yet. `varve context compact SESSION --budget 8000` creates them."
        : drawTree(tree),
    );
    output.result(tree);
  });
}

/** Draws the summaries as a tree, one line each. */
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
      record: false,
    });
    for (const message of view.messages)
      output.show(`${message.role}: ${getEntryText({ type: "message", message })}\n`);
    const omitted = view.trace.filter((item) => !item.in).length;
    output.say(
      `${number(view.messages.length)} messages, about ${number(view.estimatedTokens)} tokens; ${number(omitted)} items omitted (--json shows which and why).`,
    );
    output.result(view);
  });
}

export async function compactCommand(name: string, flags: ContextFlags): Promise<void> {
  const signal = listenForInterrupt();
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.get(name);
    const result = await varve.context.compact(session, {
      budgetTokens: flags.budget,
      instructions: flags.instructions,
      keepRecentTokens: flags.keepRecent,
      signal,
    });
    output.say(
      `${result.status}: ${number(result.tokensBefore)} → ${number(result.tokensAfter)} tokens, ${result.leafPasses} leaf and ${result.condensedPasses} condensed summaries written${result.because ? ` (${result.because})` : ""}.`,
    );
    output.result(result);
    if (result.failure !== undefined) {
      throw new VarveError(result.failure, `The compaction stopped early: ${result.because}`, {
        remedy:
          "Summaries written before the failure are kept. Check the models with `varve status`, then run the command again.",
      });
    }
    if (result.status === "busy")
      throw new VarveError("STORE_BUSY", "Another process is compacting this conversation.", {
        remedy: "Wait until it has finished, then run the command again if it is still needed.",
      });
  });
}

export interface OpenFlags extends CommonOptions {
  depth?: number;
  tokens?: number;
  messages?: boolean;
  lines?: { from: number; to: number };
  all?: boolean;
  session?: string;
}

/** Ids that can be opened; any other argument is the name of a session, or a question. */
const citation = /^(?:sum_[0-9a-f]+|file_[0-9a-f]+|msg#\d+|mem_[0-9a-z]+)$/;

const noSummaries = "This session has no summaries yet. `varve context compact SESSION --budget 8000` creates them.";

export async function describeCommand(name: string, flags: OpenFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const id = citation.test(name)
      ? name
      : (await varve.context.overview(await varve.sessions.get(name))).summaries[0]?.id;
    if (id === undefined) {
      output.say(noSummaries);
      output.result(null);
      return;
    }
    const found = await varve.context.describe(id, {
      tokenCap: flags.tokens,
      startLine: flags.lines?.from,
      endLine: flags.lines?.to,
      expandFile: flags.all,
    });
    output.show(drawDescription(found));
    output.result(found);
  });
}

function drawDescription(found: Description): string {
  switch (found.kind) {
    case "summary":
      return drawSummary(found);
    case "file":
      return drawFile(found);
    case "memory": {
      const { memory } = found;
      const sources = memory.sources.map((source) => `msg#${source.seq}`).join(", ") || memory.extractor;
      return `${memory.id}: ${memory.category}, ${memory.scope}, since ${when(memory.validFrom)}, from ${sources}\n\n${memory.content}`;
    }
    case "message": {
      const { entry } = found;
      return `msg#${entry.seq} ${when(entry.time)}\n\n${getEntryText(entry)}`;
    }
  }
}

function drawSummary({ summary, subtree, sources }: Extract<Description, { kind: "summary" }>): string {
  const shown = sources.slice(0, 20).join(", ");
  return [
    `${summary.id}: ${summary.kind}, depth ${summary.depth}, ${when(summary.earliestAt)} – ${when(summary.latestAt)}, written by ${summary.model ?? summary.level}`,
    `covers ${number(subtree.messages)} messages (${number(subtree.messageTokens)} tokens) through ${number(subtree.summaries)} summaries\n`,
    summary.content,
    `\nmade from: ${shown}${sources.length > 20 ? `, … ${sources.length} in total` : ""}`,
  ].join("\n");
}

function drawFile({ file, entries, lines }: Extract<Description, { kind: "file" }>): string {
  const facts = `${file.id}: ${[file.name, file.mediaType, file.kind].filter(Boolean).join(", ")}, ${number(file.bytes)} bytes, ${number(file.lines)} lines, about ${number(file.tokens)} tokens, in ${entries.join(", ")}`;
  const byModel = file.byModel === undefined ? "" : `\n\n${file.byModel.text}`;
  if (!lines)
    return `${facts}\n\n${file.summary}${byModel}\n\n\`varve describe ${file.id} --lines 1-100\` prints lines of it, \`--all\` prints it from the start.`;
  return `${facts}\nlines ${lines.startLine}–${lines.endLine} of ${lines.totalLines}\n\n${lines.text}${lines.cut ? `\n\n(${lines.cut})` : ""}`;
}

export async function expandCommand(names: string[], flags: OpenFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const request = await resolveExpansion(varve, names, flags);
    if ("summaryIds" in request && request.summaryIds.length === 0) {
      output.say(noSummaries);
      output.result({ nodes: [], tokens: 0 });
      return;
    }
    const expansion = await varve.context.expand({
      ...request,
      maxDepth: flags.depth,
      tokenCap: flags.tokens,
      includeMessages: flags.messages,
    });
    const nothing =
      expansion.cut === undefined ? "No summary covers messages that match." : "Nothing fits the token cap.";
    output.show(expansion.nodes.length === 0 ? nothing : drawExpansion(expansion.nodes));
    if (expansion.cut) output.say(`\n${expansion.cut}`);
    output.result(expansion);
  });
}

/** Summary ids are expanded; a session stands for the summaries in its context; other words are a question. */
async function resolveExpansion(
  varve: Varve,
  names: string[],
  flags: OpenFlags,
): Promise<{ summaryIds: string[] } | { query: string; session?: Session }> {
  if (names.every((name) => /^sum_[0-9a-f]+$/.test(name))) return { summaryIds: names };
  const [only] = names;
  if (names.length === 1 && only !== undefined && !/\s/.test(only)) {
    const session = await findSession(varve, only);
    if (session) {
      const { summaries } = await varve.context.overview(session);
      return { summaryIds: summaries.map((summary) => summary.id) };
    }
  }
  const session = flags.session === undefined ? undefined : await varve.sessions.get(flags.session);
  return { query: names.join(" "), session };
}

async function findSession(varve: Varve, name: string): Promise<Session | undefined> {
  try {
    return await varve.sessions.get(name);
  } catch (error) {
    if (error instanceof VarveError && (error.code === "SESSION_NOT_FOUND" || error.code === "BAD_KEY"))
      return undefined;
    throw error;
  }
}

function drawExpansion(nodes: Expansion["nodes"], indent = ""): string {
  return nodes
    .map((node) => {
      const own = `${indent}${node.summary.id}\n${node.summary.content.replace(/^/gm, `${indent}  `)}`;
      const messages = node.messages.map(
        (entry) => `${indent}  msg#${entry.seq} ${when(entry.time)} ${getEntryText(entry)}`,
      );
      return [own, ...messages, drawExpansion(node.children, `${indent}  `)].filter(Boolean).join("\n");
    })
    .join("\n");
}
