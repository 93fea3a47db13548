import { spawn } from "node:child_process";
import { once } from "node:events";
import { type GatewayLogRecord, startGateway } from "../../http/index.ts";
import type { Varve } from "../../index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { followIdleMemory } from "../idle-memory.ts";
import { openLog } from "../log.ts";

export interface StartFlags extends CommonOptions {
  port?: number;
  host?: string;
  open?: boolean;
}

export async function startCommand(flags: StartFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const log = openLog(varve.settings);
    const memory = followIdleMemory();
    const note = (record: GatewayLogRecord): void => {
      memory.touch();
      log.write(record);
      if (record.event === "person.unknown" && "command" in record) {
        output.say(`${record.person} wrote for the first time. If it is you: ${record.command}`);
      }
    };
    const gateway = await startGateway(varve, { host: flags.host, port: flags.port, log: note });
    varve.jobs.start();
    varve.search.follow((error) => log.write({ event: "embedding failed", error: String(error) }));
    varve.memory.followMirror((error) => log.write({ event: "mirror failed", error: String(error) }));
    const stopRetention = followRetention(varve, log.write);
    const link = gateway.createLoginLink();
    const { url } = gateway;
    const lines = [
      ["open", link],
      ["API", `${url}/api/openapi.json`],
      ["MCP", `${url}/mcp`],
      ["proxy", `${url}/proxy/anthropic, ${url}/proxy/openai/v1`],
      ...(gateway.socket === undefined ? [] : [["socket", gateway.socket]]),
      ["token", gateway.tokenFile ?? "the tokens in gateway.tokens, and those of `varve tokens`"],
      ["chat", "varve chat"],
    ];
    const shown = lines.map(([name = "", value]) => `  ${name.padEnd(6)} ${value}`).join("\n");
    output.say(`Varve is running at ${url}\n\n${shown}\n\nPress Ctrl-C to stop.`);
    output.result({ url: gateway.url, port: gateway.port, socket: gateway.socket, tokenFile: gateway.tokenFile });
    if (flags.open) openBrowser(link);
    await waitForStop();
    process.stderr.write("\nStopping…\n");
    stopRetention();
    memory.stop();
    await gateway.close();
    await log.close();
  });
}

const retentionEveryMs = 86_400_000;

/** Applies the retention periods now and once a day. */
function followRetention(varve: Varve, log: (record: Record<string, unknown>) => void): () => void {
  const apply = (): void => {
    varve.applyRetention().then(
      (removed) => removed && Object.keys(removed).length > 0 && log({ event: "retention", removed }),
      (error: unknown) => log({ event: "retention failed", error: String(error) }),
    );
  };
  apply();
  const timer = setInterval(apply, retentionEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function waitForStop(): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  await Promise.race([once(process, "SIGINT", { signal }), once(process, "SIGTERM", { signal })]);
  controller.abort();
}

function openBrowser(link: string): void {
  const opener = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  const child = spawn(opener, [link], { stdio: "ignore", detached: true });
  child.on("error", () => process.stderr.write("The browser could not be opened. Open the link above yourself.\n"));
  child.unref();
}
