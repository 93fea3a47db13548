import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { VarveError } from "../index.ts";
import { program } from "./process.ts";

const sampleMs = 50;
const ownerName = "owner-token";

export interface BenchToken {
  name: string;
  rights: ("read" | "write" | "admin")[];
  agent?: string;
}

/** A gateway in a process of its own, so that its memory and its event loop are measured alone. */
export class GatewayProcess {
  readonly url: string;
  /** A token with all rights that is bound to no agent. */
  readonly ownerToken: string;
  readonly #child: ChildProcess;
  readonly #home: string;
  readonly #sampling: NodeJS.Timeout;
  #rssMaxBytes = 0;

  private constructor(child: ChildProcess, home: string, url: string) {
    this.#child = child;
    this.#home = home;
    this.url = url;
    this.ownerToken = ownerName;
    this.#sampling = setInterval(() => {
      this.#rssMaxBytes = Math.max(this.#rssMaxBytes, this.#readRss());
    }, sampleMs);
  }

  /** `settings` are those of the file, without the tokens: the secret of each is its name. */
  static async start(settings: Record<string, unknown>, tokens: readonly BenchToken[]): Promise<GatewayProcess> {
    const home = mkdtempSync(join(tmpdir(), "varve-bench-"));
    const all: BenchToken[] = [...tokens, { name: ownerName, rights: ["read", "write", "admin"] }];
    const hashed = all.map((token) => ({
      ...token,
      token: `sha256:${createHash("sha256").update(token.name).digest("hex")}`,
    }));
    const gateway = { ...(settings.gateway as object | undefined), tokens: hashed };
    // JSON is YAML too.
    writeFileSync(join(home, "config.yaml"), JSON.stringify({ ...settings, gateway }), { mode: 0o600 });
    const child = spawn(process.execPath, [program, "start", "--port", "0", "--home", home], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, VARVE_SEARCH_EMBEDDER: "none" },
    });
    if (child.stdout === null) throw new VarveError("INTERNAL", "The gateway of the bench has no output.");
    await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
    child.stdout.resume();
    if (child.exitCode !== null) throw new VarveError("INTERNAL", "The gateway of the bench did not start.");
    const { url } = JSON.parse(readFileSync(join(home, "gateway.json"), "utf8")) as { url: string };
    return new GatewayProcess(child, home, url);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The highest resident memory since the last call, in bytes; 0 where the system does not say. */
  takeRssMax(): number {
    const max = this.#rssMaxBytes;
    this.#rssMaxBytes = 0;
    return max;
  }

  async stop(): Promise<void> {
    clearInterval(this.#sampling);
    if (this.isAlive) {
      this.#child.kill("SIGTERM");
      // A gateway that is still busy must not keep the bench waiting.
      const killed = new AbortController();
      const patience = sleep(15_000, undefined, { signal: killed.signal, ref: false }).then(
        () => this.#child.kill("SIGKILL"),
        () => false,
      );
      await once(this.#child, "exit");
      killed.abort();
      await patience;
    }
    rmSync(this.#home, { recursive: true, force: true });
  }

  #readRss(): number {
    if (process.platform !== "linux" || !this.isAlive) return 0;
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
    } catch {
      // The process ended between the check and the reading.
      return 0;
    }
  }
}

/** Sends a request that must succeed: with a body a POST, otherwise a GET. */
export async function send(url: string, token: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  throw new VarveError("INTERNAL", `The gateway of the bench answered ${response.status}: ${JSON.stringify(answer)}`);
}
