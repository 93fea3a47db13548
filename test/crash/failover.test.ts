/** PostgreSQL with a synchronous standby, and gateways, that fail while people talk. */
import { describe, expect, test } from "vitest";
import { databaseKinds } from "../support/databases.ts";
import { failoverScenarios, runFailoverDrill } from "../support/failover-drill.ts";

// Shorter than the defaults, so that the drills take seconds; too short ones on a busy machine only cause repetitions.
const settings = {
  store: { connectTimeoutMs: 2_000, silenceMs: 500, reconnectMs: 3_000 },
  turn: { debounceMs: 0, leaseMs: 2_000, graceMs: 600_000, maxConcurrent: 8, attemptsMax: 20 },
};

describe.runIf(databaseKinds.includes("postgres"))("people who talk go on, and nothing is lost or doubled", () => {
  test.each(failoverScenarios)("%s", async (scenario) => {
    const lines: string[] = [];
    const report = await runFailoverDrill({
      scenario,
      conversations: 6,
      turns: 8,
      settings,
      say: (line) => lines.push(line),
    });
    const { answered, refused, resumedMs, ...faults } = report;
    console.log(`${scenario}: ${answered} answered, ${refused} sent again, went on after ${resumedMs.join(", ")} ms`);
    expect(faults).toEqual({ scenario, lost: [], doubled: [], disordered: [], failed: [], faults: [] });
    expect(answered).toBe(48);
    // Every conversation was in the middle of its turns.
    expect(resumedMs).toHaveLength(6);
  });
});
