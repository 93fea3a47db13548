/**
 * Makes sure that a PostgreSQL server with the pgvector extension is installed, for the tests that need a real one.
 * Takes no time when both are there. Run it alone with `node_modules/.bin/node scripts/provision-postgres.ts`.
 */
import { existsSync, readdirSync } from "node:fs";
import { buildPgvector } from "./build-pgvector.ts";
import {
  firstLine,
  installPackages,
  isPackageKnown,
  ProvisionError,
  reasonNotInstallable,
  updatePackageLists,
} from "./debian.ts";

const oldestMajor = 15;
const installRoot = "/usr/lib/postgresql";

export interface PostgresInstallation {
  major: number;
  /** The folder with `initdb` and `postgres`. */
  binFolder: string;
  hasVector: boolean;
}

/** Brings PostgreSQL and pgvector here when they are not, and says where they are. */
export function provisionPostgres(): PostgresInstallation {
  const found = findPostgres();
  if (found?.hasVector) return found;
  const reason = reasonNotInstallable();
  if (reason !== undefined) throw cannotProvision(found, reason);
  try {
    if (found === undefined) installServer();
    const server = findPostgres();
    if (server === undefined) throw new Error(`the package postgresql is older than version ${oldestMajor}`);
    if (!server.hasVector) installVector(server);
  } catch (error) {
    throw cannotProvision(findPostgres(), firstLine(error));
  }
  const provisioned = findPostgres();
  if (!provisioned?.hasVector) throw cannotProvision(provisioned, "the installation left no vector extension behind");
  return provisioned;
}

/** The newest PostgreSQL here, one with pgvector before one without. */
export function findPostgres(): PostgresInstallation | undefined {
  if (!existsSync(installRoot)) return undefined;
  const found = readdirSync(installRoot)
    .map(Number)
    .filter((major) => major >= oldestMajor && existsSync(`${installRoot}/${major}/bin/initdb`))
    .map((major) => ({
      major,
      binFolder: `${installRoot}/${major}/bin`,
      hasVector: existsSync(`/usr/share/postgresql/${major}/extension/vector.control`),
    }));
  found.sort((a, b) => Number(b.hasVector) - Number(a.hasVector) || b.major - a.major);
  return found[0];
}

function installServer(): void {
  console.error("Installing PostgreSQL.");
  installPackages(["postgresql"]);
}

function installVector(server: PostgresInstallation): void {
  const name = `postgresql-${server.major}-pgvector`;
  // An image without package lists knows only what is installed: that is not the same as a release without this one.
  if (!isPackageKnown(name)) updatePackageLists();
  if (isPackageKnown(name)) {
    console.error(`Installing ${name}.`);
    installPackages([name]);
  } else {
    console.error(`This release has no ${name}: building it from the next release's source.`);
    buildPgvector(server);
  }
}

function cannotProvision(found: PostgresInstallation | undefined, reason: string): ProvisionError {
  const what = found === undefined ? "PostgreSQL is not installed" : "PostgreSQL has no pgvector extension";
  return new ProvisionError(what, reason, {
    "To install it, run as root": "node_modules/.bin/node scripts/provision-postgres.ts",
    "To use a server of your own": "VARVE_TEST_POSTGRES_URL=postgres://… npm test",
    "To test without it": "VARVE_TEST_SKIP=postgres npm test",
  });
}

if (import.meta.main) {
  try {
    const { major, binFolder } = provisionPostgres();
    console.log(`PostgreSQL ${major} with pgvector is ready in ${binFolder}.`);
  } catch (error) {
    console.error(error instanceof ProvisionError ? error.message : error);
    process.exitCode = 1;
  }
}
