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
    for (const text of listTexts(args[0])) {
      if (known.has(text)) continue;
      known.add(text);
      appendFileSync(file, `${JSON.stringify({ text, origin: findOrigin() })}\n`);
    }
    return send.apply(this, args);
  } as typeof pg.Client.prototype.query;
}

/** A text, a statement with its values, or several statements of one flight. */
function listTexts(query: unknown): string[] {
  if (typeof query === "string") return [query];
  const { text, texts } = query as { text?: string; texts?: string[] };
  return texts ?? (text === undefined ? [] : [text]);
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
  return (
    frames.find(
      (frame) =>
        !/^(src\/store\/postgres\/(open|tapped-pool|flight|watched-client)|test\/support\/record-)/.test(frame),
    ) ?? "unknown"
  );
}
