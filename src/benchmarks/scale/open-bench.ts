import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVarve, type Varve, VarveError } from "../../index.ts";
import { SyntheticEmbedder } from "../synthetic-embedder.ts";

export interface BenchTarget {
  /** An SQLite file or a `postgres://` address of an empty database; a file of its own when absent. */
  database?: string;
  onProgress(name: string, done: number, total: number): void;
}

export interface OpenBench {
  varve: Varve;
  embedder: SyntheticEmbedder;
  home: string;
  close(): Promise<void>;
}

/** Opens the database of a benchmark with synthetic vectors, in a home that is removed afterwards. */
export async function openBench({ database }: BenchTarget, mustBeEmpty: boolean): Promise<OpenBench> {
  const home = mkdtempSync(join(tmpdir(), "varve-bench-"));
  const embedder = new SyntheticEmbedder();
  const target = database === undefined ? {} : { database };
  const varve = await openVarve({ home, background: false, models: { embedder }, ...target });
  const close = async (): Promise<void> => {
    await varve.close();
    rmSync(home, { recursive: true, force: true });
  };
  const { conversations } = await varve.status();
  if (!mustBeEmpty || conversations === 0) return { varve, embedder, home, close };
  await close();
  // Figures of a database that others use would mean nothing, and its owner would find the messages of the bench in it.
  throw new VarveError("REFUSED", `The database holds ${conversations} conversations already.`, {
    remedy: "Create an empty database for the bench (`createdb varve_bench`), and name it with --database.",
  });
}
