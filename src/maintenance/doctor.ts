import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkConfig, type LoadedConfig, printFault } from "../config/index.ts";
import { checkDag } from "../context/index.ts";
import { importTranscripts, legacyStoreName, parseLegacyStore } from "../imports/index.ts";
import { rebuildMemoryText } from "../memory/index.ts";
import { verifyChain } from "../security/index.ts";
import { listStaleLeases, type Store } from "../store/index.ts";
import { checkLog, type Finding, fixCounters, indexWordsForRows } from "../transcript/index.ts";
import { takeBackup } from "./backup.ts";
import { checkModes, fixModes, modesCheck } from "./check-modes.ts";
import { checkPeople, misplacedCheck, moveMisplaced } from "./check-people.ts";

export interface DoctorReport {
  healthy: boolean;
  findings: Finding[];
  /** The repairs of `--fix` or `--rebuild`. */
  done: string[];
}

export interface DoctorOptions {
  fix?: boolean;
  /** Discard everything that is derived from the log and rebuild it. */
  rebuild?: boolean;
  /** Further folders to search for stores of older programs. */
  legacyFolders?: string[];
}

interface DoctorEngine {
  store: Store;
  loaded: LoadedConfig;
}

/** Checks everything that can be wrong; changes nothing unless asked, and then only after a backup. */
export async function runDoctor(engine: DoctorEngine, options: DoctorOptions = {}): Promise<DoctorReport> {
  const done: string[] = [];
  let findings = await runChecks(engine, options);
  const broken = findings.filter((finding) => finding.faults.length > 0 && finding.fixable);
  if ((options.fix && broken.length > 0) || options.rebuild) {
    const backup = await takeBackup(engine.store, engine.loaded.home);
    done.push(`backup taken: ${backup.file}`);
    if (options.fix) for (const finding of broken) done.push(await repair(engine, finding, options));
    if (options.rebuild) done.push(await rebuildText(engine));
    findings = await runChecks(engine, options);
  }
  return { healthy: findings.every((finding) => finding.faults.length === 0), findings, done };
}

const names = {
  integrity: "the database and its indexes are whole",
  dag: "every summary leads back to its messages",
  leases: "no expired lock remains",
  quarantine: "no imported line waits in quarantine",
  config: "the settings are right",
  audit: "no record of the audit log was changed or removed",
  legacy: "no store of an older program waits to be imported",
} as const;

async function runChecks(engine: DoctorEngine, options: DoctorOptions): Promise<Finding[]> {
  const { store } = engine;
  const integrity = await store.checkIntegrity();
  const stale = await listStaleLeases(store, engine.store.clock.now());
  const held = await store.db
    .selectFrom("quarantine")
    .select(["path", "record", "reason"])
    .orderBy("time")
    .limit(20)
    .execute();
  const config = checkConfig(engine.loaded.home, process.env);
  const legacy = legacyStores(engine, options);
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
    await checkAudit(store),
    checkModes(engine.loaded),
    ...(await checkPeople(engine)),
    { check: names.legacy, faults: legacy, checked: legacy.length, fixable: true },
  ];
}

async function checkAudit(store: Store): Promise<Finding> {
  const { fault, rows } = await verifyChain(store);
  const faults = fault === null ? [] : [`record ${fault.num}: ${fault.reason}`];
  return { check: names.audit, faults, checked: rows, fixable: false };
}

async function repair(engine: DoctorEngine, finding: Finding, options: DoctorOptions): Promise<string> {
  switch (finding.check) {
    case names.integrity:
      return rebuildText(engine);
    case names.leases:
      await engine.store.transaction(({ db }) =>
        db.deleteFrom("leases").where("until", "<=", engine.store.clock.now()).execute(),
      );
      return `${finding.faults.length} expired locks removed`;
    case misplacedCheck:
      return moveMisplaced(engine);
    case modesCheck:
      return `${fixModes(engine.loaded)} files and folders closed to other users`;
    case names.legacy:
      return importLegacy(engine, legacyStores(engine, options));
    default:
      await fixCounters(engine.store);
      return "counters counted again";
  }
}

async function rebuildText(engine: DoctorEngine): Promise<string> {
  const { entries } = await engine.store.rebuildText((rows) => indexWordsForRows(engine.store, rows));
  const { memories } = await rebuildMemoryText(engine.store);
  return `full-text index rebuilt from ${entries} entries and ${memories} memories`;
}

/** Stores of older programs in the home and the given folders. */
function legacyStores(engine: DoctorEngine, options: DoctorOptions): string[] {
  const folders = [engine.loaded.home, join(engine.loaded.home, "sessions"), ...(options.legacyFolders ?? [])];
  return folders.map((folder) => join(folder, legacyStoreName)).filter((file) => existsSync(file));
}

/** Imports a legacy store; its files are removed only when everything in them has been read back from the log. */
async function importLegacy(engine: DoctorEngine, stores: string[]): Promise<string> {
  const words: string[] = [];
  for (const file of stores) {
    const folder = dirname(file);
    const listed = parseLegacyStore(file);
    const transcripts = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
    const target = { store: engine.store, config: engine.loaded.config, home: engine.loaded.home };
    const report = await importTranscripts(target, [folder]);
    const again = await importTranscripts(target, [folder]);
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
