/** Every call to the store of a whole turn fails once, one after another: each message is answered once all the same. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toVarveError } from "../../src/domain/index.ts";
import { openVarve, type TurnResult } from "../../src/index.ts";
import { getText } from "../../src/turn/turn.ts";
import { lastUserText, modelSettings, startChatServer } from "../support/chat-server.ts";
import { databaseKinds, scratchDatabase } from "../support/databases.ts";
import { FaultTap, faults } from "./fault-tap.ts";
import { assertHealthy } from "./log.ts";

const once = faults.filter((fault) => !fault.lasting);

test.each(databaseKinds)(
  "a turn whose n-th call to the store fails is answered once, for every n, on %s",
  async (kind) => {
    const scratch = await scratchDatabase(kind);
    const home = mkdtempSync(join(tmpdir(), "varve-turn-faults-"));
    const server = await startChatServer((body) =>
      body.messages.at(-1)?.role === "tool"
        ? { text: `re: ${lastUserText(body)}` }
        : { calls: [{ name: "memory_stats", input: {} }] },
    );
    const tap = new FaultTap();
    const varve = await openVarve({
      home,
      database: scratch.database,
      tap,
      config: {
        models: modelSettings(server.url),
        search: { embedder: "none" },
        store: { readers: 1, cacheMiB: 4 },
        turn: { debounceMs: 0, leaseMs: 400, attemptsMax: 20 },
      },
    });
    let met = 0;
    try {
      for (const [index, fault] of once.entries()) {
        for (let at = 1 + index; ; at += 5) {
          const text = `${fault.name}, call ${at}`;
          const inbound = { id: `${index}-${at}`, session: `agent:main:faults:direct:f${index}-${at}`, text };
          tap.arm(fault, at);
          const result = await answered(() => varve.turns.send(inbound));
          const wasMet = tap.count >= at;
          tap.reset();
          expect(result, text).toMatchObject({ status: "replied", reply: `re: ${text}` });
          const { entries } = await varve.transcripts.read(await varve.sessions.get(inbound.session));
          const said = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
          expect(said.filter(({ role }) => role === "user").map(getText), text).toEqual([text]);
          expect(
            said.filter((message) => message.role === "assistant" && getText(message) !== "").map(getText),
            text,
          ).toEqual([`re: ${text}`]);
          if (!wasMet) break;
          met += 1;
        }
      }
      expect(met).toBeGreaterThan(12);
      await assertHealthy(varve, "after the faults");
    } finally {
      await varve.close();
      await server.close();
      await scratch.drop();
      rmSync(home, { recursive: true, force: true });
    }
  },
);

/** Whoever is not told that their message was accepted, or is cut off while they wait, asks again under the same id. */
async function answered(send: () => Promise<TurnResult>): Promise<TurnResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (attempt > 20 || !toVarveError(error).code.startsWith("STORE_")) throw error;
    }
  }
}
