/** A turn on PostgreSQL takes few statements: counted on the wire, with those that name the tenant. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openVarve } from "../../src/index.ts";
import { type ChatServer, modelSettings, startChatServer } from "../support/chat-server.ts";
import { bindToPolicies, protectedKinds, type ScratchDatabase, scratchDatabase } from "../support/databases.ts";
import { startWireCounter } from "../support/wire-counter.ts";

const statementsMax = 20;
const turns = 9;

/** Looks for pending messages and jobs come by the clock, also without a turn. */
const isLook = (text: string) =>
  /^select "num", "agent", "key", "state", .* from "inbox"/.test(text) ||
  text.startsWith('select "agent", "id" from "jobs"');
const namesTenant = (text: string) => /^select set_config\('varve\.agent', \$1, true\), [^,]*, \$2, true\)$/.test(text);
const withoutLooks = (statements: readonly string[]) =>
  statements.filter((text, index) => {
    const next = statements[index + 1] ?? "";
    return !isLook(text) && !(namesTenant(text) && isLook(next));
  });

describe.runIf(protectedKinds.length > 0)("the statements of a turn on postgres", () => {
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

  /**
   * The statements of the turn with the fewest: none sends less than a turn needs, while jobs of earlier turns may run
   * during another.
   */
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
    const counted: string[][] = [];
    try {
      for (let turn = 0; turn < turns; turn += 1) {
        wire.reset();
        const result = await varve.turns.send({ session, text: `Message ${turn}: what was decided about the plan?` });
        expect(result).toMatchObject({ status: "replied", reply: "The plan was decided on Monday." });
        counted.push(withoutLooks(wire.statements));
        await varve.jobs.drain();
      }
    } finally {
      await varve.close();
      await wire.close();
    }
    counted.sort((a, b) => a.length - b.length);
    const [least] = counted;
    if (!least) throw new Error("No turn was counted.");
    return least;
  };

  for (const prepared of ["auto", "off"] as const) {
    test(`the owner of the tables sends at most ${statementsMax}, prepared statements ${prepared}`, async () => {
      const statements = await measure(scratch.database, prepared);
      expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(statementsMax);
      // The message and the reply are written: what is counted is a turn.
      expect(statements.filter((text) => text.includes("varve_append_1("))).toHaveLength(2);
    });

    test(`a bound role sends at most ${statementsMax}, prepared statements ${prepared}`, async () => {
      const statements = await measure(bound, prepared);
      expect(statements.length, statements.join("\n")).toBeLessThanOrEqual(statementsMax);
      expect(statements.filter((text) => text.includes("'varve.agent'")).length).toBeGreaterThan(0);
    });
  }
});
