import { defineConfig } from "vitest/config";

const minuteMs = 60_000;
const withPostgres = ["test/support/global-setup.ts"];

/** One project for each part of `npm test` that is made of test files. */
function project(name: string, include: string[], testTimeout: number, globalSetup: string[] = []) {
  return { extends: true as const, test: { name, include, testTimeout, hookTimeout: testTimeout, globalSetup } };
}

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    projects: [
      project("unit", ["src/**/*.test.ts", "scripts/**/*.test.ts"], 20_000),
      project("conformance", ["test/conformance/**/*.test.ts"], minuteMs, withPostgres),
      project("crash", ["test/crash/**/*.test.ts"], 15 * minuteMs, withPostgres),
      project("e2e", ["test/e2e/**/*.test.ts"], 5 * minuteMs, withPostgres),
    ],
  },
});
