import { defineConfig } from "vitest/config";

const minuteMs = 60_000;

/** One project for each part of `npm test` that is made of test files. */
function project(name: string, include: string[], testTimeout: number) {
  return { extends: true as const, test: { name, include, testTimeout, hookTimeout: testTimeout } };
}

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    projects: [
      project("unit", ["src/**/*.test.ts", "scripts/**/*.test.ts"], 20_000),
      project("conformance", ["test/conformance/**/*.test.ts"], minuteMs),
      project("crash", ["test/crash/**/*.test.ts"], 15 * minuteMs),
      project("e2e", ["test/e2e/**/*.test.ts"], 5 * minuteMs),
    ],
  },
});
