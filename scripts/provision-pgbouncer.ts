/** Makes sure that Debian's PgBouncer is installed, for the drill behind a pooler. */
import { existsSync } from "node:fs";
import { findProgram, firstLine, installPackages, ProvisionError, reasonNotInstallable } from "./debian.ts";

/** Brings PgBouncer here when it is not, and gives the path of its program. */
export function provisionPgbouncer(): string {
  const found = findPgbouncer();
  if (found !== undefined) return found;
  const reason = reasonNotInstallable();
  if (reason !== undefined) throw cannotProvision(reason);
  try {
    console.error("Installing PgBouncer.");
    installPackages(["pgbouncer"]);
  } catch (error) {
    throw cannotProvision(firstLine(error));
  }
  const installed = findPgbouncer();
  if (installed === undefined) throw cannotProvision("the package pgbouncer left no program of that name");
  return installed;
}

/** Debian installs it where only root searches for programs. */
function findPgbouncer(): string | undefined {
  const file = "/usr/sbin/pgbouncer";
  return findProgram("pgbouncer") ?? (existsSync(file) ? file : undefined);
}

function cannotProvision(reason: string): ProvisionError {
  return new ProvisionError("PgBouncer is not installed", reason, {
    "To install it, run as root": "node_modules/.bin/node scripts/provision-pgbouncer.ts",
    "To test without it": "VARVE_TEST_SKIP=postgres npm test",
  });
}

if (import.meta.main) {
  try {
    console.log(`PgBouncer is ready: ${provisionPgbouncer()}`);
  } catch (error) {
    console.error(error instanceof ProvisionError ? error.message : error);
    process.exitCode = 1;
  }
}
