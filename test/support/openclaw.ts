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
  /** One turn of a session. */
  send(agent: string, key: string, text: string): Promise<void>;
  /** A method of its gateway. */
  call(method: string, params: object): Promise<void>;
  /** Ends the gateway; the home stays. */
  stop(): Promise<void>;
  remove(): void;
}

/** Starts the gateway; ready after one to two minutes. */
export async function startOpenClaw(program: string, modelUrl: string): Promise<OpenClaw> {
  const folder = mkdtempSync(join(tmpdir(), "varve-openclaw-"));
  const home = join(folder, "state");
  const workspace = join(home, "ws");
  mkdirSync(workspace, { recursive: true });
  const port = await findFreePort();
  const config = join(home, "openclaw.json");
  writeFileSync(config, JSON.stringify(createSettings(home, workspace, modelUrl)));
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    OPENCLAW_STATE_DIR: home,
    OPENCLAW_CONFIG_PATH: config,
    OPENCLAW_GATEWAY_TOKEN: token,
    OPENCLAW_GATEWAY_PORT: String(port),
  };
  // The program is a script that is started by the Node of the tests, which is new enough for it.
  const start = (args: string[]) => [program, ...args];
  const gateway = spawn(
    process.execPath,
    start(["gateway", "run", "--port", String(port), "--bind", "loopback", "--auth", "token", "--token", token]),
    { env, stdio: ["ignore", "pipe", "pipe"] },
  );
  await waitUntilReady(gateway);
  const invoke = async (args: string[]) => {
    await run(process.execPath, start(args), { env, timeout: callTimeoutMs, maxBuffer: 64 * 1024 * 1024 });
  };
  return {
    home,
    workspace,
    send: (agent, key, text) => invoke(["agent", "--agent", agent, "--session-key", key, "--message", text, "--json"]),
    call: (method, params) => invoke(["gateway", "call", method, "--params", JSON.stringify(params)]),
    async stop() {
      if (gateway.exitCode !== null) return;
      const ended = once(gateway, "exit");
      gateway.kill("SIGTERM");
      await ended;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function createSettings(home: string, workspace: string, modelUrl: string): object {
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
          models: [{ ...model, contextWindow: 131_072, maxTokens: 4_096 }],
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
