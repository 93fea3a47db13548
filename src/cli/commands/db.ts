import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { VarveError } from "../../domain/index.ts";
import { type DatabaseCheck, listDistribution, listRoleGrants } from "../../index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { number, outputFor, table } from "../output.ts";
import { startProgress } from "../progress.ts";

export async function checkCommand(flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const check = await varve.checkDatabase();
    const rows = [
      ["schema", String(check.schemaVersion)],
      ["role", check.role ?? "none: access is by the mode of the file"],
      [
        "texts",
        check.encryptedWith === undefined
          ? "not encrypted"
          : `encrypted with the key ${check.encryptedWith}; the word index and the vectors are not`,
      ],
      ["tenants", describeTenants(check)],
      ["vectors", describeVectors(check)],
      ...describeServer(check),
    ];
    output.show(table(["DATABASE", check.engine], rows));
    for (const advice of check.vectors.advice) output.say(`Vectors: ${advice}.`);
    for (const advice of check.server?.advice ?? []) output.say(`Server: ${advice}.`);
    output.result(check);
    if (check.faults.length === 0) return;
    throw new VarveError("REFUSED", `The database does not keep tenants apart: ${check.faults.join("; ")}.`, {
      remedy:
        "Create a role of its own (`create role varve_gateway login password …`), run the statements of " +
        "`varve db grants varve_gateway` as the owner of the tables, and let the gateway connect as that role.",
    });
  });
}

function describeTenants({ role, faults }: DatabaseCheck): string {
  if (role === undefined) return "kept apart by Varve alone: SQLite has no roles";
  return faults.length === 0 ? "kept apart by the database too" : "not kept apart by the database";
}

function describeVectors({ engine, vectors }: DatabaseCheck): string {
  if (vectors.storage === "pgvector") return `compared by the database, pgvector ${vectors.extension}`;
  return engine === "sqlite" ? "compared in the memory of each process" : "compared in memory: pgvector is not used";
}

function describeServer({ server, replica }: DatabaseCheck): string[][] {
  if (server === undefined) return [];
  const { version, connections, pooler, standbys } = server;
  const each = standbys.map(({ name, sync, state, lagBytes }) => {
    const lag = lagBytes === undefined ? "" : `, ${number(lagBytes)} bytes behind`;
    return `${name} (${state}, ${sync}${lag})`;
  });
  const lag = replica?.fault === undefined ? `${number(replica?.lagMs ?? 0)} ms behind` : `not read: ${replica.fault}`;
  return [
    ["server", `PostgreSQL ${version}, ${connections.used} of ${connections.max} connections in use`],
    ["pooler", pooler === "none" ? "none" : `in ${pooler} mode`],
    ["standbys", each.length === 0 ? "none" : each.join(", ")],
    ...(replica === undefined ? [] : [["replica", lag]]),
  ];
}

/** Moves vectors into pgvector, and indexes the agents that have many. */
export async function vectorsCommand(flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const progress = startProgress("Converting vectors");
    const done = await varve.search.maintainVectors({
      onProgress: (converted) => progress.update(converted, 0, `${number(converted)} converted`),
    });
    progress.finish("Checked the vectors");
    const { vectors, engine } = await varve.checkDatabase();
    if (done === undefined && engine === "sqlite") {
      output.show("There is nothing to do: with SQLite each process compares vectors in its memory.");
      output.result({ converted: 0, indexed: [], unindexed: [], vectors });
      return;
    }
    if (done === undefined) {
      throw new VarveError("REFUSED", `Vectors stay in the memory of each process: ${engine} does not compare them.`, {
        remedy: vectors.advice[0] ?? "Only PostgreSQL with pgvector compares vectors itself.",
      });
    }
    output.show(
      `${number(done.converted)} vectors were converted, ${number(done.indexed.length)} agents were indexed.`,
    );
    for (const advice of vectors.advice) output.say(`Vectors: ${advice}.`);
    output.result({ ...done, vectors });
  });
}

export async function keygenCommand(flags: CommonOptions & { out?: string }): Promise<void> {
  const output = outputFor(flags);
  const key = randomBytes(32).toString("base64");
  if (flags.out === undefined) {
    output.show(key);
    output.result({ key });
    return;
  }
  writeNewFile(flags.out, `${key}\n`);
  output.show(`The key is in ${flags.out}. Keep a copy somewhere safe: without it what it encrypts is lost.`);
  output.result({ file: flags.out });
}

function writeNewFile(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw new VarveError(
      "CONFLICT",
      `The key cannot be written to ${file}: ${(error as NodeJS.ErrnoException).code}.`,
      {
        remedy: "Name a file that does not exist yet, in a folder that you can write to.",
        cause: error,
      },
    );
  }
}

export async function sealCommand(flags: CommonOptions & { decrypt?: boolean }): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const tables = new Map<string, number>();
    const { rows } = await varve.rewriteDatabase({
      decrypt: flags.decrypt ?? false,
      onProgress: (name, count) => tables.set(name, count),
    });
    const done = flags.decrypt ? "decrypted" : "encrypted";
    for (const [name, count] of tables) if (count > 0) output.show(`${name}: ${number(count)} rows ${done}`);
    output.show(`${number(rows)} rows were ${done}.`);
    output.result({ rows, tables: Object.fromEntries(tables) });
  });
}

export async function grantsCommand(role: string, flags: CommonOptions): Promise<void> {
  const output = outputFor(flags);
  const statements = listRoleGrants(role);
  output.show(statements.map((statement) => `${statement};`).join("\n"));
  output.result({ role, statements });
}

export async function distributeCommand(flags: CommonOptions & { apply?: boolean }): Promise<void> {
  if (!flags.apply) {
    const output = outputFor(flags);
    const statements = listDistribution();
    output.show(statements.map((statement) => `${statement};`).join("\n"));
    output.result({ statements });
    return;
  }
  await withVarve(flags, async (varve, output) => {
    const done = await varve.distributeDatabase();
    const { distributed, already } = done;
    output.show(`${number(distributed.length)} tables were distributed, ${number(already.length)} had been before.`);
    output.result(done);
  });
}
