/** Lets `vitest run --project conformance` work alone: `npm test` brings a server, and without it one is started here. */
import { type ScratchPostgres, startScratchPostgres } from "../../scripts/scratch-postgres.ts";

let server: ScratchPostgres | undefined;

export async function setup(): Promise<void> {
  const skipped = (process.env.VARVE_TEST_SKIP ?? "").split(",").map((name) => name.trim());
  if (process.env.VARVE_TEST_POSTGRES_URL || skipped.includes("postgres")) return;
  server = await startScratchPostgres();
  process.env.VARVE_TEST_POSTGRES_URL = server.url;
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
