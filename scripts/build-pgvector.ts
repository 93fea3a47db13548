/** Builds pgvector from the source package of the next Debian release, for a release that does not carry it. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asSourceStanza, findMainArchive } from "./apt-sources.ts";
import { installPackages, run } from "./debian.ts";

const sourceSuite = "trixie";

export function buildPgvector(server: { major: number; binFolder: string }): void {
  const folder = mkdtempSync(join(tmpdir(), "varve-pgvector-"));
  try {
    // The unprivileged user that apt downloads with has to pass through.
    chmodSync(folder, 0o755);
    const tarball = downloadSource(folder);
    run("tar", ["-xf", tarball, "--strip-components=1", "-C", unpackFolder(folder)]);
    installPackages([`postgresql-server-dev-${server.major}`, "make", "gcc", "libc6-dev"]);
    const settings = [
      `PG_CONFIG=${server.binFolder}/pg_config`,
      // Code for exactly this processor would crash when the machine's image moves to another one.
      "OPTFLAGS=",
      "with_llvm=no",
    ];
    run("make", ["-s", "-j2", ...settings], { cwd: unpackFolder(folder) });
    run("make", ["-s", "install", ...settings], { cwd: unpackFolder(folder) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fetches the source package with lists and caches of its own, so that the machine's stay as they are. */
function downloadSource(folder: string): string {
  const archive = findMainArchive(readAptSources());
  if (archive === undefined) throw new Error("no Debian main archive is named in /etc/apt");
  const sourceList = join(folder, "source.sources");
  writeFileSync(sourceList, asSourceStanza(archive, sourceSuite));
  for (const name of ["lists/partial", "cache/archives/partial", "source"]) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  const options = [
    `Dir::Etc::sourcelist=${sourceList}`,
    "Dir::Etc::sourceparts=-",
    `Dir::State::lists=${folder}/lists`,
    `Dir::Cache=${folder}/cache`,
  ].flatMap((option) => ["-o", option]);
  run("apt-get", [...options, "update", "-q"]);
  run("apt-get", [...options, "--download-only", "-q", "source", "pgvector"], { cwd: join(folder, "source") });
  const tarball = readdirSync(join(folder, "source")).find((name) => /\.orig\.tar\.\w+$/.test(name));
  if (tarball === undefined) throw new Error("the source package of pgvector came without its tarball");
  return join(folder, "source", tarball);
}

function unpackFolder(folder: string): string {
  const unpacked = join(folder, "pgvector");
  mkdirSync(unpacked, { recursive: true });
  return unpacked;
}

function readAptSources(): { name: string; text: string }[] {
  const parts = "/etc/apt/sources.list.d";
  const paths = ["/etc/apt/sources.list", ...listFolder(parts).map((name) => join(parts, name))];
  return paths.flatMap((name) => {
    try {
      return [{ name, text: readFileSync(name, "utf8") }];
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    }
  });
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
