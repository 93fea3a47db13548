import { homedir } from "node:os";
import { VarveError } from "../../domain/index.ts";
import {
  type EngineEvent,
  loadConfig,
  type RetentionReport,
  restoreBackup,
  type Status,
  type Varve,
} from "../../index.ts";
import { inspectOpenclaw, locateOpenclaw } from "../../plugins/index.ts";
import { type CommonOptions, listenForInterrupt, openOptions, withVarve } from "../context.ts";
import { describeCoverage } from "../describe-coverage.ts";
import { bytes, number, outputFor, table, when } from "../output.ts";
import { describeUnknown } from "./owner.ts";

export async function statusCommand(flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const status = await varve.status();
    const jobs = Object.entries(status.jobs).map(([state, count]) => `${count} ${state}`);
    output.show(
      table(
        ["VARVE", status.version],
        [
          ["home", status.home],
          [
            "database",
            `${status.database} (${status.engine}, schema ${status.schemaVersion}, ${bytes(status.databaseBytes)})`,
          ],
          [
            "encryption",
            status.encryption === null
              ? "off"
              : `texts with the key ${status.encryption}; the word index and the vectors are not encrypted`,
          ],
          ["sessions", number(status.sessions)],
          ["messages", `${number(status.messages)} (about ${number(status.tokens)} tokens)`],
          ["summaries", summaryLine(status)],
          ["large files", number(status.files)],
          ["search", describeCoverage(status.search)],
          ["memories", number(status.memories)],
          ["jobs", jobs.join(", ") || "none"],
          ["turns", turnLine(status)],
          ...status.spend.map((one) => ["spend", spendLine(one)]),
          ...status.failedJobs.map((job) => ["  failed", `${job.kind} ${job.key}: ${job.error}`]),
          ...status.models.map((model) => ["model", modelLine(model)]),
          ...status.summaryFaults.map((one) => ["  fault", `${one.summary}: ${one.faults.join(" ")}`]),
          ["imported files", number(status.importedFiles)],
          ["quarantined records", number(status.quarantined)],
          ...peopleLines(status, flags.agent),
          ["last backup", status.lastBackup ? `${when(status.lastBackup.time)} ${status.lastBackup.file}` : "none"],
        ],
      ),
    );
    output.result(status);
  });
}

const unknownShown = 3;

/** Who the owner is, and how somebody who wrote becomes the owner. */
function peopleLines({ people: { owners, unknown } }: Status, agent: string | undefined): string[][] {
  const named = owners.map(({ channel, id }) => `${channel} ${id}`).join(", ");
  const more = unknown.length - unknownShown;
  return [
    ["owners", named || "none named"],
    ...unknown.slice(0, unknownShown).map((person) => ["  unknown", describeUnknown(person, agent)]),
    ...(more > 0 ? [["  unknown", `and ${more} more: \`varve owner list\``]] : []),
  ];
}

function summaryLine({ summaries, summaryLevels }: Status): string {
  const levels = Object.entries(summaryLevels).map(([level, count]) => `${count} ${level}`);
  return levels.length === 0 ? number(summaries) : `${number(summaries)} (${levels.join(", ")})`;
}

function turnLine({ inbox }: Status): string {
  return `${number(inbox.waiting ?? 0)} waiting, ${number(inbox.running ?? 0)} running, ${number(inbox.done ?? 0)} messages answered`;
}

function spendLine(spend: Status["spend"][number]): string {
  const { day, purpose, model, calls, inputTokens, outputTokens, cacheableTokens, cachedTokens } = spend;
  const share = (tokens: number) => `${Math.min(100, Math.round((100 * tokens) / Math.max(1, inputTokens)))}%`;
  const cache = cacheableTokens > 0 ? ` (${share(cacheableTokens)} cacheable, ${share(cachedTokens)} cached)` : "";
  return `${day} ${purpose} ${model}: ${number(calls)} calls, ${number(inputTokens)} tokens in${cache}, ${number(outputTokens)} out`;
}

/** Formats a model's calls and failures, and the reason when it is paused. */
function modelLine(model: Status["models"][number]): string {
  const figures = `${model.name}: ${number(model.calls)} calls, ${number(model.failures)} failed`;
  const paused = model.paused ? `, paused until ${when(model.pausedUntil)}: ${model.pausedBecause}` : "";
  const last =
    model.lastError === undefined || (model.lastOkAt ?? 0) > (model.lastErrorAt ?? 0)
      ? ""
      : `; last error: ${model.lastError}`;
  return `${figures}${paused}${last}`;
}

export interface DoctorFlags extends CommonOptions {
  fix?: boolean;
  rebuild?: boolean;
}

export async function doctorCommand(flags: DoctorFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const report = addPrograms(await varve.doctor({ fix: flags.fix, rebuild: flags.rebuild }), varve.settings.home);
    for (const line of report.done) output.show(`done: ${line}`);
    for (const finding of report.findings) {
      output.show(`${finding.faults.length === 0 ? "ok  " : "BAD "} ${finding.check}`);
      for (const fault of finding.faults) output.show(`       ${fault}`);
      for (const note of finding.notes ?? []) output.show(`       ${note}`);
      if (finding.faults.length > 0 && finding.fixable) output.show("       → `varve doctor --fix` repairs this");
    }
    output.result(report);
    if (!report.healthy) process.exitCode = 1;
  });
}

type DoctorReport = Awaited<ReturnType<Varve["doctor"]>>;

/** Adds the programs that Varve was set up in. */
function addPrograms(report: DoctorReport, varveHome: string): DoctorReport {
  const faults = inspectOpenclaw({ ...locateOpenclaw({ env: process.env, userHome: homedir() }), varveHome });
  if (faults === undefined) return report;
  const finding = { check: "OpenClaw uses Varve, and every turn is stored", faults, checked: 1, fixable: false };
  return { ...report, healthy: report.healthy && faults.length === 0, findings: [...report.findings, finding] };
}

export async function backupCommand(
  file: string | undefined,
  flags: CommonOptions & { portable?: boolean },
): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const backup = await varve.backup(file, { portable: flags.portable });
    output.say(`Backup written: ${backup.file} (${bytes(backup.bytes)})`);
    output.result(backup);
  });
}

export async function restoreCommand(file: string, flags: CommonOptions & { yes?: boolean }): Promise<void> {
  if (!flags.yes && !process.env.CI && process.stdin.isTTY) {
    throw new VarveError(
      "REFUSED",
      "Restoring replaces the database with the backup, and the gateway must not run meanwhile.",
      {
        remedy:
          "Stop the gateway and run the command again with --yes. The current database is kept as a file next to it.",
      },
    );
  }
  const result = await restoreBackup(openOptions(flags), file);
  // The audit log is now that of the backup, so the restore is recorded there.
  if (loadConfig({ home: flags.home }).config.gateway.audit) await withVarve(flags, async () => undefined);
  const output = outputFor(flags);
  output.say(`Restored ${number(result.messages)} messages from ${result.from}.`);
  if (result.kept) output.say(`The previous database is kept as ${result.kept}.`);
  output.result(result);
}

function describeEvent(event: EngineEvent): string {
  switch (event.type) {
    case "compaction":
      return `${event.data.status}, ${number(event.data.tokensBefore)} → ${number(event.data.tokensAfter)} tokens`;
    case "job.failed":
      return `${event.data.kind} failed: ${event.data.error}`;
    case "hook.failed":
      return `the hook ${event.data.hook} failed: ${event.data.error}`;
    case "memories": {
      const decisions = Object.entries(event.data.decisions).map(([decision, count]) => `${count} ${decision}`);
      return `memories extracted from ${number(event.data.messages)} messages: ${decisions.join(", ") || "none"}`;
    }
    case "person.unknown":
      return `${event.data.name ?? event.data.audience} wrote for the first time; \`varve owner list\` shows who is not known`;
    case "session.created":
      return "a session was opened";
    case "session.renewed":
      return "the session began again";
    case "turn.ended":
      return `a turn ended: ${event.data.status}`;
    case "turn.failed":
      return `a turn failed: ${event.data.error}`;
  }
}

function pickCounts(answer: object): Record<string, number> {
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => typeof value === "number"));
}

function describeRetention({ messages, ...others }: RetentionReport): string[] {
  const lines = Object.entries(others).map(
    ([kind, { removed }]) => `Retention: ${number(removed)} removed of ${kind}.`,
  );
  if (messages === undefined) return lines;
  const { removed, summaries, summariesKept } = messages;
  const kept = summariesKept === 0 ? "" : `; ${number(summariesKept)} summaries still describe some of them`;
  return [`Retention: ${number(removed)} messages and ${number(summaries)} summaries removed${kept}.`, ...lines];
}

/** Does once what a gateway does continuously in the background. */
export async function maintainCommand(flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const done: string[] = [];
    varve.onEvent((event) => {
      const words = `${event.key}: ${describeEvent(event)}`;
      done.push(words);
      output.say(words);
    });
    const jobs = await varve.jobs.drain();
    output.say(jobs === 0 ? "No jobs were pending." : `${number(jobs)} jobs done.`);
    const signal = listenForInterrupt();
    const memories = await varve.memory.maintain({ signal });
    output.say(
      `Memories maintained: ${Object.entries(pickCounts(memories))
        .map(([what, count]) => `${count} ${what}`)
        .join(", ")}.`,
    );
    const vectors = await varve.search.prune({ signal });
    if (vectors.removed > 0) output.say(`${number(vectors.removed)} vectors of earlier models were removed.`);
    for (const { model, because } of vectors.kept) output.say(`The vectors of ${model} are kept: ${because}.`);
    const retention = await varve.applyRetention();
    if (retention === undefined) output.say("Another process applies the retention periods.");
    for (const line of describeRetention(retention ?? {})) output.say(line);
    const { jobs: left } = await varve.status();
    output.result({ jobs, left, done, memories, vectors, retention });
  });
}
