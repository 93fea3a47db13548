import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkConfig, printFault } from "../config/index.ts";
import { checkDag } from "../context/index.ts";
import { rebuildMemoryText } from "../memory/index.ts";
import { listStaleLeases } from "../store/index.ts";
import {
  checkLog,
  type Finding,
  fixCounters,
  indexWordsForRows,
  legacyStoreName,
  parseLegacyStore,
} from "../transcript/index.ts";
import { backupNow } from "./backup.ts";
import type { EngineHost } from "./host.ts";
import { importInto } from "./imports.ts";

export interface DoctorReport {
  healthy: boolean;
  findings: Finding[];
  /** What `--fix` or `--rebuild` did. */
  done: string[];
}

export interface DoctorOptions {
  fix?: boolean;
  /** Throw away everything that is derived from the log and make it anew. */
  rebuild?: boolean;
  /** Folders to look for stores of older programs in, beside the home. */
  legacyFolders?: string[];
}

/** Looks at everything that can be wrong; changes nothing unless asked, and then only after a backup. */
export async function examine(host: EngineHost, options: DoctorOptions = {}): Promise<DoctorReport> {
  const done: string[] = [];
  let findings = await look(host, options);
  const broken = findings.filter((finding) => finding.faults.length > 0 && finding.fixable);
  if ((options.fix && broken.length > 0) || options.rebuild) {
    const backup = await backupNow(host);
    done.push(`backup taken: ${backup.file}`);
    if (options.fix) for (const finding of broken) done.push(await mend(host, finding, options));
    if (options.rebuild) done.push(await rebuildText(host));
    findings = await look(host, options);
  }
  return { healthy: findings.every((finding) => finding.faults.length === 0), findings, done };
}

const names = {
  integrity: "the database and its indexes are whole",
  dag: "every summary leads back to its messages",
  leases: "no lock was left behind",
  quarantine: "no imported line waits in quarantine",
  config: "the settings are right",
  legacy: "no store of an older program waits to be imported",
} as const;

async function look(host: EngineHost, options: DoctorOptions): Promise<Finding[]> {
  const { store } = host;
  const integrity = await store.checkIntegrity();
  const stale = await listStaleLeases(store, host.clock.now());
  const held = await store.db
    .selectFrom("quarantine")
    .select(["path", "record", "reason"])
    .orderBy("time")
    .limit(20)
    .execute();
  const config = checkConfig(host.loaded.home, process.env);
  const legacy = legacyStores(host, options);
  return [
    {
      check: names.integrity,
      faults: integrity,
      checked: 1,
      fixable: integrity.every((fault) => fault.startsWith("full-text")),
    },
    ...(await checkLog(store)),
    { check: names.dag, ...(await checkDag(store)), fixable: false },
    {
      check: names.leases,
      faults: stale.map((lease) => `${lease.name}: expired ${new Date(lease.until).toISOString()}`),
      checked: 1,
      fixable: true,
    },
    {
      check: names.quarantine,
      faults: held.map((row) => `${row.path}:${row.record}: ${row.reason}`),
      checked: held.length,
      fixable: false,
    },
    { check: names.config, faults: config.map(printFault), checked: 1, fixable: false },
    { check: names.legacy, faults: legacy, checked: legacy.length, fixable: true },
  ];
}

async function mend(host: EngineHost, finding: Finding, options: DoctorOptions): Promise<string> {
  switch (finding.check) {
    case names.integrity:
      return rebuildText(host);
    case names.leases:
      await host.store.transaction(({ db }) =>
        db.deleteFrom("leases").where("until", "<=", host.clock.now()).execute(),
      );
      return `${finding.faults.length} expired locks removed`;
    case names.legacy:
      return importLegacy(host, legacyStores(host, options));
    default:
      await fixCounters(host.store);
      return "counters counted again";
  }
}

async function rebuildText(host: EngineHost): Promise<string> {
  const { entries } = await host.store.rebuildText((rows) => indexWordsForRows(host.store, rows));
  const { memories } = await rebuildMemoryText(host.store);
  return `full-text index built anew from ${entries} entries and ${memories} memories`;
}

/** Legacy stores are looked for where older agents keep them, inside the home. */
function legacyStores(host: EngineHost, options: DoctorOptions): string[] {
  const folders = [host.loaded.home, join(host.loaded.home, "sessions"), ...(options.legacyFolders ?? [])];
  return folders.map((folder) => join(folder, legacyStoreName)).filter((file) => existsSync(file));
}

/** Imports a legacy store and sets its files aside only when everything in them has been read back from the log. */
async function importLegacy(host: EngineHost, stores: string[]): Promise<string> {
  const words: string[] = [];
  for (const file of stores) {
    const folder = dirname(file);
    const listed = parseLegacyStore(file);
    const transcripts = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    const report = await importInto(host, [folder]);
    const again = await importInto(host, [folder]);
    if (report.quarantined > 0 || again.imported > 0 || report.skipped.length > 0) {
      words.push(`${file}: ${report.imported} messages imported, but not everything could be read; the source stays`);
      continue;
    }
    for (const name of transcripts) renameSync(join(folder, name), join(folder, `${name}.imported`));
    renameSync(file, `${file}.imported`);
    for (const name of transcripts) rmSync(join(folder, `${name}.imported`));
    rmSync(`${file}.imported`);
    words.push(
      `${file}: ${listed.size} sessions, ${report.imported + report.duplicates} messages imported and verified; the source was removed`,
    );
  }
  return words.join("; ");
}
