/** `npm run drill:openclaw`: a conversation of 60 turns with Varve in the real OpenClaw. Takes a few minutes. */
import { parseArgs } from "node:util";
import { runDrill } from "../test/support/openclaw-drill.ts";
import { provisionOpenClaw } from "./provision-openclaw.ts";

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "60" },
    kills: { type: "string", default: "3" },
    keep: { type: "boolean", default: false },
  },
});
const started = performance.now();
const report = await runDrill({
  program: provisionOpenClaw(),
  turns: Number(values.turns),
  kills: Number(values.kills),
  isWhole: true,
  keep: values.keep,
  say: (line) => console.error(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}`),
});
const { records } = report;
const checks: [string, boolean][] = [
  ["no turn failed", report.failed.length === 0],
  ["no turn was degraded", report.degraded === 0],
  ["no request was longer than the window", report.refused === 0],
  ["a refused prompt is shortened and sent again", report.refusedAsTooLong > 0],
  ["every message is stored once", records.missing.length + records.doubled.length === 0],
  ["every message is stored unchanged and in order", records.changed.length + records.disordered.length === 0],
  ["the fact of turn 2 is known at the last turn", report.answer.includes("K-17")],
  ["/new forgets the view", report.afterReset.length === 1],
  ["/new does not forget the history", report.answerAfterReset.includes("K-17")],
  ["a sub-agent belongs to its parent", report.subagentParent === "agent:main:drill"],
  ["a failing store degrades turns", report.degradedByStore > 0],
  ["varve doctor finds nothing", report.faults.length === 0],
  ["varve doctor knows that OpenClaw uses Varve", report.doctor[0]?.startsWith("ok") ?? false],
  ["a removal restores OpenClaw's configuration", report.isRestored],
];
console.log(JSON.stringify(report, null, 2));
for (const [text, holds] of checks) console.log(`${holds ? "ok    " : "FAILED"} ${text}`);
console.log(`${((performance.now() - started) / 1000).toFixed(0)} s`);
if (checks.some(([, holds]) => !holds)) process.exitCode = 1;
