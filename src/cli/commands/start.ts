import { spawn } from "node:child_process";
import { once } from "node:events";
import { type Gateway, startGateway } from "../../http/index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { openLog } from "../log.ts";

export interface StartFlags extends CommonOptions {
  port?: number;
  host?: string;
  open?: boolean;
}

export async function startCommand(flags: StartFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const log = openLog(varve.settings);
    const gateway = await startGateway(varve, { host: flags.host, port: flags.port, log: log.write });
    varve.jobs.start();
    varve.search.follow((error) => log.write({ event: "embedding failed", error: String(error) }));
    const link = gateway.createLoginLink();
    const { url } = gateway;
    const lines = [
      ["open", link],
      ["API", `${url}/api/openapi.json`],
      ["MCP", `${url}/mcp`],
      ["proxy", `${url}/proxy/anthropic, ${url}/proxy/openai/v1`],
      ["token", gateway.tokenFile ?? "those of gateway.tokens"],
      ["talk", "varve chat"],
    ];
    const shown = lines.map(([name = "", value]) => `  ${name.padEnd(6)} ${value}`).join("\n");
    output.say(`Varve runs at ${url}\n\n${shown}\n\nCtrl-C stops it.`);
    output.result({ url: gateway.url, port: gateway.port, tokenFile: gateway.tokenFile });
    if (flags.open) openBrowser(link);
    await stopSignal(gateway);
    await log.close();
  });
}

async function stopSignal(gateway: Gateway): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  await Promise.race([once(process, "SIGINT", { signal }), once(process, "SIGTERM", { signal })]);
  controller.abort();
  process.stderr.write("\nStopping…\n");
  await gateway.close();
}

function openBrowser(link: string): void {
  const opener = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  const child = spawn(opener, [link], { stdio: "ignore", detached: true });
  child.on("error", () => process.stderr.write("No browser could be opened; use the link above.\n"));
  child.unref();
}
