import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { VarveError } from "../domain/index.ts";

/** A certificate with its chain, and its private key, both as PEM. */
export interface TlsPair {
  cert: string;
  key: string;
}

export interface TlsFiles {
  certFile: string;
  keyFile: string;
}

/** The files of the settings; undefined without TLS. Relative paths start at the home folder. */
export function resolveTlsFiles(tls: { cert?: string; key?: string }, home: string): TlsFiles | undefined {
  const { cert, key } = tls;
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined) return { certFile: resolve(home, cert), keyFile: resolve(home, key) };
  const missing = cert === undefined ? "gateway.tls.cert" : "gateway.tls.key";
  throw new VarveError("BAD_CONFIG", `TLS needs a certificate and its key, but ${missing} is not set.`, {
    remedy: `Set ${missing} to a PEM file, or unset both to listen without TLS.`,
  });
}

/** Reads and checks the files; throws when they cannot be read, do not belong together, or others can read the key. */
export function readTlsFiles({ certFile, keyFile }: TlsFiles): TlsPair {
  const pair = { cert: readPem(certFile, "gateway.tls.cert"), key: readPem(keyFile, "gateway.tls.key") };
  refuseReadableKey(keyFile);
  try {
    // Loaded on demand: most gateways have no certificate.
    process.getBuiltinModule("node:tls").createSecureContext(pair);
  } catch (error) {
    throw new VarveError(
      "BAD_CONFIG",
      `The certificate ${certFile} and the key ${keyFile} cannot be used: ${error instanceof Error ? error.message : error}.`,
      {
        remedy: "Name a certificate and its own private key, both in PEM form, the key without a password.",
        cause: error,
      },
    );
  }
  return pair;
}

function readPem(file: string, setting: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new VarveError("BAD_CONFIG", `The file of ${setting} cannot be read: ${String(error)}.`, {
      remedy: `Let ${setting} name a PEM file that the gateway's user can read.`,
      cause: error,
    });
  }
}

/** A key that another user owns, such as root, may be readable by a group; otherwise the gateway could not read it. */
function refuseReadableKey(file: string): void {
  if (process.platform === "win32") return;
  const { mode, uid } = statSync(file);
  const forbidden = uid === process.getuid?.() ? 0o077 : 0o007;
  if ((mode & forbidden) === 0) return;
  throw new VarveError("REFUSED", `Other users can read the TLS key: ${file} has mode ${(mode & 0o777).toString(8)}.`, {
    remedy: `Run \`chmod 600 ${file}\`, and replace the key if somebody may have read it.`,
  });
}

/** Notices new files by their modification times and sizes, so that a renewed certificate needs no restart. */
export class TlsWatcher {
  readonly #files: TlsFiles;
  #seen: string;

  constructor(files: TlsFiles) {
    this.#files = files;
    this.#seen = this.#fingerprint();
  }

  /** Returns the pair when it has changed. A faulty pair throws once; the previous one stays in use. */
  readChange(): TlsPair | undefined {
    const now = this.#fingerprint();
    if (now === this.#seen) return undefined;
    this.#seen = now;
    return readTlsFiles(this.#files);
  }

  #fingerprint(): string {
    const { certFile, keyFile } = this.#files;
    return [certFile, keyFile]
      .map((file) => {
        const stat = statSync(file, { throwIfNoEntry: false });
        return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : "missing";
      })
      .join(", ");
  }
}
