/** A stage with the real Claude Code: its configuration, Varve's home and a project in folders of their own. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../bin/varve.js", import.meta.url));

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface ClaudeStage {
  home: string;
  config: string;
  project: string;
  varve(...args: string[]): Promise<Ran>;
  /** One prompt in a session of its own, or in one that goes on; gives the session's id. */
  prompt(text: string, resume?: string, flags?: string[]): Promise<string>;
  claude(...args: string[]): Promise<Ran>;
  /** Sends later requests to another model server. */
  useModel(url: string): void;
  /** Gives the gateway's URL. */
  startGateway(): Promise<string>;
  end(): Promise<void>;
}

export function setClaudeStage(claude: string, modelUrl: string): ClaudeStage {
  const folder = mkdtempSync(join(tmpdir(), "varve-claude-"));
  const [home, config, project] = ["home", "config", "project"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [home, config, project]) mkdirSync(each);
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    NO_COLOR: "1",
    VARVE_HOME: home,
    CLAUDE_CONFIG_DIR: config,
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "x",
    IS_SANDBOX: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  const run = (file: string, args: string[]): Promise<Ran> =>
    new Promise((resolve) => {
      const child = execFile(file, args, { env, cwd: project, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
      );
      child.stdin?.end();
    });
  let stopGateway = async (): Promise<void> => undefined;
  const stage: ClaudeStage = {
    home,
    config,
    project,
    varve: (...args) => run(process.execPath, [program, ...args]),
    claude: (...args) => run(claude, args),
    useModel: (url) => {
      env.ANTHROPIC_BASE_URL = url;
    },
    async prompt(text, resume, flags = []) {
      const rest = resume === undefined ? [] : ["--resume", resume];
      const ran = await stage.claude("-p", text, "--output-format", "json", ...rest, ...flags);
      if (ran.code !== 0) throw new Error(`Claude Code ended with ${ran.code}: ${ran.stderr}${ran.stdout}`);
      return (JSON.parse(ran.stdout) as { session_id: string }).session_id;
    },
    async startGateway() {
      const child = spawn(process.execPath, [program, "start", "--port", "0"], { env, cwd: project, stdio: "ignore" });
      const ended = once(child, "exit");
      stopGateway = async () => {
        child.kill("SIGTERM");
        await ended;
      };
      const file = join(home, "gateway.json");
      while (!existsSync(file)) await sleep(50);
      return (JSON.parse(readFileSync(file, "utf8")) as { url: string }).url;
    },
    async end() {
      await stopGateway();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return stage;
}
