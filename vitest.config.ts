import { defineConfig } from "vitest/config";

const minuteMs = 60_000;
const withPostgres = ["test/support/global-setup.ts"];

/**
 * One project for each part of `npm test` that is made of test files. Their time limits end tests that hang; no test
 * comes near them, on a busy machine either.
 */
function project(name: string, include: string[], testTimeout: number, globalSetup: string[] = []) {
  return { extends: true as const, test: { name, include, testTimeout, hookTimeout: testTimeout, globalSetup } };
}

export default defineConfig({
  test: {
    pool: "forks",
    // Node 24 may end with "Check failed: jit_page.has_value()" where one thread's WebAssembly gets faster ways to call
    // JavaScript while another thread's ends: here the HTTP client, and threads whose TypeScript is read by WebAssembly.
    execArgv: ["--wasm-wrapper-tiering-budget=1000000000"],
    maxWorkers: 2,
    setupFiles: ["test/support/record-statements.ts"],
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: minuteMs } },
    projects: [
      project("unit", ["src/**/*.test.ts", "scripts/**/*.test.ts", "console/src/**/*.test.ts"], 2 * minuteMs),
      project("conformance", ["test/conformance/**/*.test.ts"], 5 * minuteMs, withPostgres),
      project("crash", ["test/crash/**/*.test.ts"], 30 * minuteMs, withPostgres),
      project("hostile", ["test/hostile/**/*.test.ts"], 30 * minuteMs, withPostgres),
      project("e2e", ["test/e2e/**/*.test.ts"], 15 * minuteMs, withPostgres),
    ],
  },
});
