import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "../config/index.ts";

function gatewayFilePath(home: string): string {
  return join(home, "gateway.json");
}

/** Writes the gateway's addresses to `gateway.json`, where hooks find them. The gateway that started last wins. */
export function writeGatewayFile(home: string, { url, socket }: { url: string; socket: string | undefined }): void {
  writeAtomically(gatewayFilePath(home), `${JSON.stringify({ url, pid: process.pid, socket })}\n`);
}

/** Removes the file, unless another gateway has replaced it since. */
export function removeGatewayFile(home: string, url: string): void {
  try {
    const { url: written, pid } = JSON.parse(readFileSync(gatewayFilePath(home), "utf8")) as {
      url: string;
      pid: number;
    };
    if (written === url && pid === process.pid) rmSync(gatewayFilePath(home), { force: true });
  } catch (error) {
    // The file was removed or replaced already.
    if (!(error instanceof SyntaxError || (error instanceof Error && "code" in error))) throw error;
  }
}
