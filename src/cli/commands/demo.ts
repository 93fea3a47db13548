import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getEntryText, openVarve, type Varve } from "../../index.ts";
import { createStory, question } from "../demo-story.ts";
import { number, type Output, outputFor } from "../output.ts";
import { drawTree } from "./context.ts";

export interface DemoFlags {
  json?: boolean;
  keep?: boolean;
}

const budgetTokens = 3_000;
const key = "agent:main:jsonl:direct:boat";

/** Runs the tour in a temporary folder, which is removed at the end. */
export async function demoCommand(flags: DemoFlags): Promise<void> {
  const output = outputFor(flags);
  const home = mkdtempSync(join(tmpdir(), "varve-demo-"));
  const varve = await openVarve({ home, background: false });
  try {
    output.result(await tour(varve, output, home));
  } finally {
    await varve.close();
    if (!flags.keep) rmSync(home, { recursive: true, force: true });
  }
  if (flags.keep) output.say(`\nThe folder ${home} is kept. Try: \`varve context tree ${key} --home ${home}\``);
}

async function tour(varve: Varve, output: Output, home: string): Promise<unknown> {
  const step = (title: string, command: string) => output.show(`\n${title}\n  $ ${command}\n`);
  const messages = createStory();
  const file = join(home, "boat.jsonl");
  writeFileSync(file, messages.map((message) => `${JSON.stringify(message)}\n`).join(""));

  step("1. Import a long conversation", "varve import boat.jsonl");
  const report = await varve.import([file], { source: "jsonl" });
  const session = await varve.sessions.get(key);
  const before = await varve.context.overview(session);
  output.show(
    `${number(report.imported)} messages, about ${number(before.rawTokens)} tokens. Every message is stored word for word.`,
  );

  step(`2. Make it fit ${number(budgetTokens)} tokens`, `varve context compact ${key} --budget ${budgetTokens}`);
  const compacted = await varve.context.compact(session, { budgetTokens });
  output.show(
    `${number(compacted.tokensBefore)} → ${number(compacted.tokensAfter)} tokens. The summaries, with what they cover:\n`,
  );
  const tree = await varve.context.tree(session);
  output.show(drawTree(tree));

  step(
    "3. Ask for something that was mentioned once, weeks ago",
    `varve context assemble ${key} --prompt "${question}"`,
  );
  const view = await varve.context.assemble(session, { budgetTokens, prompt: question });
  const recalled = view.messages.at(-1);
  const text = recalled ? getEntryText({ type: "message", message: recalled }) : "";
  const line = text.split("\n").find((one) => one.includes("blue oar")) ?? "";
  output.show(`The model gets ${number(view.estimatedTokens)} tokens; this line of them has the answer:\n\n  ${line}`);

  const [hit] = (await varve.context.grep({ session, pattern: "blue oar", scope: "messages" })).matches;
  step("4. Find the original message", 'varve grep "blue oar"');
  output.show(`${hit?.citation}: ${hit?.snippet}`);

  step("5. Expand the summary that covers it", `varve expand "${question}" --messages`);
  const opened = await varve.context.expand({ session, query: question, includeMessages: true, tokenCap: 100_000 });
  const entries = opened.nodes.flatMap((node) => node.messages);
  const at = entries.findIndex((entry) => `msg#${entry.seq}` === hit?.citation);
  for (const entry of entries.slice(Math.max(0, at - 1), at + 2))
    output.show(`  msg#${entry.seq} ${getEntryText(entry)}`);
  output.show(`\nNothing was lost. Next: \`varve import ~/.claude/projects\`, then \`varve start\`.`);
  return {
    messages: report.imported,
    tokensBefore: compacted.tokensBefore,
    tokensAfter: compacted.tokensAfter,
    summaries: compacted.leafPasses + compacted.condensedPasses,
    question,
    recalled: line,
    citation: hit?.citation,
    opened: entries.length,
  };
}
