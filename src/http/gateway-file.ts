import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "../config/index.ts";

export function gatewayFilePath(home: string): string {
  return join(home, "gateway.json");
}

/** Says where the gateway is, for programs of this machine that are started without being told. The newest one counts. */
export function writeGatewayFile(home: string, url: string): void {
  writeAtomically(gatewayFilePath(home), `${JSON.stringify({ url, pid: process.pid })}\n`);
}

/** Takes it back, unless another gateway has put its own place there since. */
export function removeGatewayFile(home: string, url: string): void {
  try {
    const { url: written, pid } = JSON.parse(readFileSync(gatewayFilePath(home), "utf8")) as {
      url: string;
      pid: number;
    };
    if (written === url && pid === process.pid) rmSync(gatewayFilePath(home), { force: true });
  } catch (error) {
    // It is gone already, or no longer ours to read.
    if (!(error instanceof SyntaxError || (error instanceof Error && "code" in error))) throw error;
  }
}
