/**
 * `npm run drill:failover`: what people notice when a server or a gateway fails, in real time and with the settings that
 * everybody has. `-- --only "primary silent"` runs one of the scenarios.
 */
import { parseArgs } from "node:util";
import { type FailoverReport, failoverScenarios, runFailoverDrill } from "../test/support/failover-drill.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    people: { type: "string", default: "20" },
    turns: { type: "string", default: "12" },
    "promote-after": { type: "string", default: "1000" },
  },
});
const resumedMsMax = 10_000;
const scenarios = failoverScenarios.filter((name) => values.only === undefined || name === values.only);
if (scenarios.length === 0) {
  console.error(`There is no scenario ${values.only}. Choose one of: ${failoverScenarios.join(", ")}.`);
  process.exit(2);
}
let isGood = true;
for (const scenario of scenarios) {
  const started = performance.now();
  const report = await runFailoverDrill({
    scenario,
    conversations: Number(values.people),
    turns: Number(values.turns),
    settings: { store: {}, turn: { debounceMs: 0, maxConcurrent: 10 } },
    promoteAfterMs: Number(values["promote-after"]),
    say: (line) => console.error(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s  ${line}`),
  });
  isGood = printReport(report) && isGood;
}
process.exitCode = isGood ? 0 : 1;

function printReport({ scenario, answered, refused, resumedMs, ...faults }: FailoverReport): boolean {
  console.log(`\n${scenario}: ${answered} messages answered, ${refused} requests sent again`);
  let isClean = true;
  for (const [name, found] of Object.entries(faults)) {
    console.log(`  ${name.padEnd(11)}${found.length}${found.length === 0 ? "" : `: ${found.slice(0, 5).join("; ")}`}`);
    if (found.length > 0) isClean = false;
  }
  const sorted = resumedMs.toSorted((a, b) => a - b);
  const last = sorted.at(-1) ?? 0;
  console.log(`  went on     after ${sorted.map((ms) => (ms / 1000).toFixed(1)).join(", ")} s`);
  console.log(`  ${last <= resumedMsMax ? "ok    " : "FAILED"} every conversation went on within 10 s`);
  console.log(`  ${isClean ? "ok    " : "FAILED"} nothing that was acknowledged is lost or doubled`);
  return isClean && last <= resumedMsMax;
}
