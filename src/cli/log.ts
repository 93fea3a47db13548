import { mkdirSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import type { LoadedConfig } from "../config/index.ts";
import { redactSecrets } from "../domain/index.ts";

export interface Log {
  write(record: Record<string, unknown>): void;
  close(): Promise<void>;
}

/** Opens the gateway's log, `logs/gateway.log`: one JSON line per record. It must never contain bodies or tokens. */
export function openLog({ home, config }: LoadedConfig): Log {
  const folder = join(home, "logs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const destination = pino.destination({ dest: join(folder, "gateway.log"), mkdir: true, sync: false, mode: 0o600 });
  const logger = pino({ level: config.log.level, base: { pid: process.pid } }, destination);
  return {
    write: (record) => {
      const line = JSON.stringify(record);
      logger.info(config.redact ? (JSON.parse(redactSecrets(line)) as object) : record);
    },
    close: () =>
      new Promise((resolve) => {
        destination.once("close", () => resolve());
        destination.end();
      }),
  };
}
