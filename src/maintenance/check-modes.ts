import { chmodSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { backupFolder, type LoadedConfig, settings } from "../config/index.ts";
import { isPostgres } from "../store/index.ts";
import type { Finding } from "../transcript/index.ts";

/** A file or folder that only its owner may open. */
interface PrivatePath {
  path: string;
  what: string;
}

export const modesCheck = "only the owner can read the home folder and its secrets";

/** Finds what other users of the machine can open. There are no such modes on Windows. */
export function checkModes(loaded: LoadedConfig): Finding {
  const paths = process.platform === "win32" ? [] : listPrivatePaths(loaded);
  const open = findOpen(paths);
  return {
    check: modesCheck,
    faults: open.map(({ path, what, mode }) => `${what} ${path} has mode ${mode.toString(8)}`),
    checked: paths.length,
    fixable: open.every(({ isOwn }) => isOwn),
  };
}

/** Closes what belongs to this user; returns how much that was. */
export function fixModes(loaded: LoadedConfig): number {
  const own = findOpen(listPrivatePaths(loaded)).filter(({ isOwn }) => isOwn);
  for (const { path, mode } of own) chmodSync(path, mode & 0o700);
  return own.length;
}

function findOpen(paths: readonly PrivatePath[]): (PrivatePath & { mode: number; isOwn: boolean })[] {
  return paths.flatMap((one) => {
    const stat = statSync(one.path, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    const isOwn = stat.uid === process.getuid?.();
    // A file of another user, such as root, can be read only through its group.
    const isOpen = (stat.mode & (isOwn ? 0o077 : 0o007)) !== 0;
    return isOpen ? [{ ...one, mode: stat.mode & 0o777, isOwn }] : [];
  });
}

function listPrivatePaths(loaded: LoadedConfig): PrivatePath[] {
  const { home, file, config } = loaded;
  const named = (what: string, ...paths: string[]) => paths.map((path) => ({ path, what }));
  const { database, gateway, encryption } = config;
  const keyFiles = [encryption.key, ...encryption.previousKeys].flatMap((key) =>
    key?.startsWith("file:") ? [resolve(home, key.slice("file:".length))] : [],
  );
  const socket = typeof gateway.socket === "string" ? resolve(home, gateway.socket) : join(home, "gateway.sock");
  return [
    ...named("the home folder", home),
    ...(isPostgres(database) ? [] : named("the database", database, `${database}-wal`, `${database}-shm`)),
    ...named("the access token", join(home, "gateway-token")),
    ...named("the secret of the proxy", join(home, "proxy-secret")),
    ...named("the keys of providers", join(home, "credentials.yaml"), ...listFiles(join(home, "auth"))),
    ...named("the backup", ...listFiles(backupFolder(home))),
    ...named("the key of the database", ...keyFiles),
    ...named("the socket", socket),
    ...(hasSecrets(loaded) ? named("the settings with secrets", file) : []),
    ...(gateway.tls.key === undefined ? [] : named("the TLS key", resolve(home, gateway.tls.key))),
  ];
}

function listFiles(folder: string): string[] {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(folder).map((name) => join(folder, name))
    : [];
}

/** Whether the settings file contains a secret itself, and not only the name of a variable. */
function hasSecrets({ config, sources }: LoadedConfig): boolean {
  return settings.some(({ key, path, mask }) => {
    if (mask === undefined || sources.get(key)?.kind !== "file") return false;
    const value = path.reduce<unknown>((one, step) => (one as Record<string, unknown> | undefined)?.[step], config);
    return JSON.stringify(mask(value)) !== JSON.stringify(value);
  });
}
