/**
 * Runs the conformance tests against a server of yours: `npm run conformance -- --database postgres://user@host/postgres`.
 * The tests create databases there, each with a name of its own that begins with `varve_test_`, and drop them again.
 * `--citus HOST:PORT,HOST:PORT` names the workers of a Citus cluster whose coordinator the address names: every database
 * is created on all of them and distributed. `--part crash` runs the crash tests instead. Further arguments are names of
 * test files.
 */
import { parseArgs } from "node:util";
import { summaryLine } from "./test-counts.ts";
import { runVitest } from "./test-run.ts";

const usage =
  "npm run conformance -- --database postgres://user@host:port/postgres [--citus HOST:PORT,…] [--part crash] [FILE …]";

const { values, positionals } = parseArgs({
  options: {
    database: { type: "string" },
    citus: { type: "string" },
    part: { type: "string", default: "conformance" },
  },
  allowPositionals: true,
});
if (!values.database || !/^postgres(ql)?:\/\//.test(values.database)) {
  console.error(`--database needs the address of a PostgreSQL server whose role may create databases:\n  ${usage}`);
  process.exit(2);
}
if (!["conformance", "crash"].includes(values.part)) {
  console.error(`--part can be conformance or crash:\n  ${usage}`);
  process.exit(2);
}
const counts = await runVitest(
  values.part,
  {
    ...process.env,
    VARVE_TEST_POSTGRES_URL: values.database,
    ...(values.citus ? { VARVE_TEST_CITUS_WORKERS: values.citus } : {}),
  },
  positionals,
);
console.log(summaryLine(counts));
process.exitCode = counts.failed === 0 ? 0 : 1;
