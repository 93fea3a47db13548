/** A turn on PostgreSQL takes few statements: counted on the wire, with those that name the tenant. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openVarve } from "../../src/index.ts";
import { type ChatServer, modelSettings, startChatServer } from "../support/chat-server.ts";
import { bindToPolicies, databaseKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { startWireCounter } from "../support/wire-counter.ts";

const statementsMax = 20;
const roundTripsMax = 10;
const turns = 9;

describe.each(databaseKinds.filter((kind) => kind === "postgres"))("the statements of a turn on %s", () => {
  let scratch: ScratchDatabase;
  let server: ChatServer;
  let bound: string;
  const home = mkdtempSync(join(tmpdir(), "varve-home-"));
  beforeAll(async () => {
    scratch = await scratchDatabase("postgres");
    server = await startChatServer(() => ({ text: "The plan was decided on Monday." }));
    const url = new URL(scratch.database);
    if (url.username === "postgres") await bindToPolicies(url);
    bound = url.href;
  });
  afterAll(async () => {
    await server?.close();
    await scratch?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  /** The figures of the turn in the middle: looks of the queue and of jobs come by the clock, during some turns. */
  const measure = async (database: string, preparedStatements: "auto" | "off") => {
    const wire = await startWireCounter(database);
    const { username } = new URL(database);
    const session = `agent:main:wire:direct:${username}-${preparedStatements}`;
    const varve = await openVarve({
      home,
      database: wire.url,
      config: {
        store: { preparedStatements },
        search: { embedder: "none" },
        models: modelSettings(server.url),
        turn: { debounceMs: 0 },
      },
    });
    const counts: { statements: readonly string[]; roundTrips: number }[] = [];
    try {
      for (let turn = 0; turn < turns; turn += 1) {
        wire.reset();
        const result = await varve.turns.send({ session, text: `Message ${turn}: what was decided about the plan?` });
        expect(result).toMatchObject({ status: "replied", reply: "The plan was decided on Monday." });
        counts.push({ statements: [...wire.statements], roundTrips: wire.roundTrips });
        await varve.jobs.drain();
      }
    } finally {
      await varve.close();
      await wire.close();
    }
    counts.sort((a, b) => a.statements.length - b.statements.length);
    const median = counts[Math.floor(turns / 2)];
    if (!median) throw new Error("No turn was counted.");
    return median;
  };

  for (const prepared of ["auto", "off"] as const) {
    test(`the owner of the tables sends at most ${statementsMax}, prepared statements ${prepared}`, async () => {
      const { statements, roundTrips } = await measure(scratch.database, prepared);
      expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(statementsMax);
      expect(roundTrips).toBeLessThanOrEqual(roundTripsMax);
      // The message and the reply are written: what is counted is a turn.
      expect(statements.filter((text) => text.includes("varve_append_1("))).toHaveLength(2);
    });

    test(`a bound role sends at most ${statementsMax}, prepared statements ${prepared}`, async () => {
      const { statements, roundTrips } = await measure(bound, prepared);
      expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(statementsMax);
      expect(roundTrips).toBeLessThanOrEqual(roundTripsMax);
      expect(statements.filter((text) => text.includes("'varve.agent'")).length).toBeGreaterThan(0);
    });
  }
});
