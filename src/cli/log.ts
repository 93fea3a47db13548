import { mkdirSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import type { LoadedConfig } from "../config/index.ts";
import { redactSecrets } from "../domain/index.ts";

export interface Log {
  write(record: Record<string, unknown>): void;
  close(): Promise<void>;
}

/** Looks at the value itself: `toJSON` of an error has been applied to the one that is given. */
function replaceError(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const original = this[key];
  return original instanceof Error ? describeError(original) : value;
}

const causesMax = 8;

/** The fields of an error that help to find its cause, and those of the errors that caused it. */
function describeError(error: Error, causes = 0): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const code = "code" in error ? { code: String(error.code) } : {};
  const inner = cause instanceof Error ? (causes < causesMax ? describeError(cause, causes + 1) : undefined) : cause;
  return { name, message, ...code, stack, ...(inner === undefined ? {} : { cause: inner }) };
}

/** Opens the gateway's log, `logs/gateway.log`: one JSON line per record. It must never contain bodies or tokens. */
export function openLog({ home, config }: LoadedConfig): Log {
  const folder = join(home, "logs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const destination = pino.destination({ dest: join(folder, "gateway.log"), mkdir: true, sync: false, mode: 0o600 });
  const logger = pino({ level: config.log.level, base: { pid: process.pid } }, destination);
  return {
    write: (record) => {
      // An error has no fields of its own in JSON. Its message may quote a secret, whatever is stored of conversations.
      const line = JSON.stringify(record, replaceError);
      logger.info(JSON.parse(redactSecrets(line)) as object);
    },
    close: () =>
      new Promise((resolve) => {
        destination.once("close", () => resolve());
        destination.end();
      }),
  };
}
