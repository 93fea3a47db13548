/** The real OpenClaw in a folder of the test's own, with a model of the test behind it. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";

const token = "test-token";
const run = promisify(execFile);
/** Only a broken OpenClaw reaches it. */
const callTimeoutMs = 10 * 60_000;

export interface OpenClaw {
  /** Its state folder. */
  home: string;
  workspace: string;
  /** The text of its configuration before `prepare` changed it. */
  settings: string;
  env: Record<string, string | undefined>;
  /** Its OpenAI-compatible endpoint, where `prepare` has enabled it, and the token for it. */
  endpoint: { url: string; token: string };
  /** What its gateway printed, since the first start. */
  readonly output: string;
  /** One turn of a session; gives the reply. */
  send(agent: string, key: string, text: string): Promise<string>;
  /** A method of its gateway. */
  call(method: string, params: object): Promise<void>;
  /** Ends the gateway; the home stays. */
  stop(): Promise<void>;
  /** Ends the gateway without any warning. */
  kill(): Promise<void>;
  /** Starts the gateway again after it ended. */
  start(): Promise<void>;
  remove(): void;
}

export interface OpenClawOptions {
  windowTokens?: number;
  /** Changes the configuration before the first start; the environment is that of OpenClaw. */
  prepare?(setup: { home: string; env: Record<string, string | undefined> }): Promise<void>;
}

/** Starts the gateway; ready after one to two minutes on a slow machine. */
export async function startOpenClaw(
  program: string,
  modelUrl: string,
  { windowTokens = 131_072, prepare }: OpenClawOptions = {},
): Promise<OpenClaw> {
  const folder = mkdtempSync(join(tmpdir(), "varve-openclaw-"));
  const home = join(folder, "state");
  const workspace = join(home, "ws");
  mkdirSync(workspace, { recursive: true });
  const port = await findFreePort();
  const config = join(home, "openclaw.json");
  const settings = `${JSON.stringify(createSettings(home, workspace, modelUrl, windowTokens), null, 2)}\n`;
  writeFileSync(config, settings);
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    OPENCLAW_STATE_DIR: home,
    OPENCLAW_CONFIG_PATH: config,
    OPENCLAW_GATEWAY_TOKEN: token,
    OPENCLAW_GATEWAY_PORT: String(port),
  };
  await prepare?.({ home, env });
  // The program is a script that is started by the Node of the tests, which is new enough for it.
  const invoke = async (args: string[]) => {
    const limits = { timeout: callTimeoutMs, maxBuffer: 64 * 1024 * 1024 };
    return (await run(process.execPath, [program, ...args], { env, ...limits })).stdout;
  };
  let gateway: ChildProcess | undefined;
  let output = "";
  const end = async (signal: NodeJS.Signals) => {
    if (gateway === undefined || gateway.exitCode !== null || gateway.signalCode !== null) return;
    const ended = once(gateway, "exit");
    gateway.kill(signal);
    await ended;
  };
  const start = async () => {
    const args = ["gateway", "run", "--port", String(port), "--bind", "loopback", "--auth", "token", "--token", token];
    gateway = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [gateway.stdout, gateway.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        output += stripVTControlCharacters(chunk.toString());
      });
    }
    await waitUntilReady(gateway);
  };
  await start();
  return {
    home,
    workspace,
    settings,
    env,
    endpoint: { url: `http://127.0.0.1:${port}/v1/chat/completions`, token },
    get output() {
      return output;
    },
    async send(agent, key, text) {
      const args = ["agent", "--agent", agent, "--session-key", key, "--message", text, "--json"];
      return readReply(await invoke(args));
    },
    async call(method, params) {
      await invoke(["gateway", "call", method, "--params", JSON.stringify(params)]);
    },
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    start,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The text of the reply in the JSON that `openclaw agent` prints. */
function readReply(stdout: string): string {
  const printed = JSON.parse(stdout.slice(stdout.indexOf("{"))) as {
    status?: string;
    result?: { payloads?: { text?: string }[] };
  };
  const text = (printed.result?.payloads ?? []).map((payload) => payload.text ?? "").join("\n");
  if (printed.status !== "ok") throw new Error(`The turn ended with ${printed.status}: ${text}`);
  return text;
}

function createSettings(home: string, workspace: string, modelUrl: string, contextWindow: number): object {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = { id: "local-model", name: "Local", reasoning: false, input: ["text"], cost };
  return {
    models: {
      mode: "merge",
      catalogRefresh: { enabled: false },
      providers: {
        local: {
          baseUrl: modelUrl,
          apiKey: "local-key",
          api: "openai-completions",
          models: [{ ...model, contextWindow, maxTokens: 4_096 }],
        },
      },
    },
    agents: {
      defaults: { workspace, skipBootstrap: true, model: { primary: "local/local-model" }, heartbeat: { every: "0m" } },
      list: [
        { id: "main", default: true },
        { id: "work", workspace: join(home, "ws-work") },
      ],
    },
    update: { checkOnStart: false },
    telemetry: { enabled: false },
    logging: { file: join(home, "openclaw.log") },
    gateway: { mode: "local" },
  };
}

/** Waits for the line that says so; rejects when the gateway ends first. */
function waitUntilReady(gateway: ChildProcess): Promise<void> {
  let output = "";
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (/\[gateway\] ready\s*$/m.test(stripVTControlCharacters(output))) resolve();
    };
    gateway.stdout?.on("data", read);
    gateway.stderr?.on("data", read);
    gateway.once("exit", (code) => reject(new Error(`OpenClaw ended with ${code}:\n${output.slice(-2_000)}`)));
  });
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}
