/** Records what a run sends to PostgreSQL, for `scripts/check-tenants.ts`. Does nothing without `VARVE_TEST_STATEMENTS`. */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";

const folder = process.env.VARVE_TEST_STATEMENTS;
const framesMax = 60;

if (folder) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}.jsonl`);
  const known = new Set<string>();
  const send = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [first] = args;
    const text = typeof first === "string" ? first : (first as { text?: string } | undefined)?.text;
    if (text !== undefined && !known.has(text)) {
      known.add(text);
      appendFileSync(file, `${JSON.stringify({ text, origin: findOrigin() })}\n`);
    }
    return send.apply(this, args);
  } as typeof pg.Client.prototype.query;
}

/** The nearest line of the project that wrote the statement: not one that only sends it. */
function findOrigin(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = framesMax;
  const { stack = "" } = new Error();
  Error.stackTraceLimit = limit;
  const frames = [...stack.matchAll(/\/((?:src|test)\/[\w./-]+\.ts):(\d+)/g)].map(
    ([, path, line]) => `${path}:${line}`,
  );
  return frames.find((frame) => !/^(src\/store\/postgres\/open|test\/support\/record-)/.test(frame)) ?? "unknown";
}
