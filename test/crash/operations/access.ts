import assert from "node:assert/strict";
import type { Varve } from "../../../src/index.ts";
import { assertHealthy } from "../log.ts";
import type { Operation, Run, Seen, Verifier } from "../operation.ts";

const config = { gateway: { audit: true }, session: { dmScope: "per-channel-peer" as const } };

/** Records in the audit log, creates, rotates and revokes tokens, and erases people. */
export const access: Operation = {
  name: "access",
  stepsMax: 8,
  async run({ child, open, step }) {
    const varve = await open({ config });
    for (let index = 0; ; index += 1) {
      const name = `${child}-${index}`;
      const event = { principal: name, action: "crash", status: "ok" };
      await step({ act: "record", name }, () => varve.audit.record(event));
      await step({ act: "create", name }, () => varve.accessTokens.create({ name, rights: ["read"] }));
      await step({ act: "rotate", name }, () => varve.accessTokens.rotate(name));
      const session = await varve.sessions.resolve({ channel: "crash", peer: name });
      await varve.context.ingest(session, [{ role: "user", content: `The secret of ${name} is here.` }]);
      await varve.memory.add({ text: `The word of ${name} is secret.`, scope: `user:crash:${name}`, force: true });
      await step({ act: "forget", name }, () => varve.forgetPerson(`crash:${name}`));
    }
  },
  verifier: () => accessVerifier(),
};

function accessVerifier(): Verifier {
  return {
    async check(varve, run) {
      await assertHealthy(varve, "after access");
      assert.ok((await varve.audit.verify()).intact, "the audit log is one chain");
      const seen: Seen = { acknowledged: 0, whole: 0, absent: 0 };
      for (const { act, name } of run.done) {
        assert.ok(await hasHappened(varve, `${act}`, `${name}`), `${act} ${name} was acknowledged`);
        seen.acknowledged += 1;
      }
      await countPending(varve, run, seen);
      return seen;
    },
  };
}

async function countPending(varve: Varve, run: Run, seen: Seen): Promise<void> {
  for (const { act, name } of run.pending) {
    seen[(await hasHappened(varve, `${act}`, `${name}`)) ? "whole" : "absent"] += 1;
  }
}

async function hasHappened(varve: Varve, act: string, name: string): Promise<boolean> {
  if (act === "record") return (await varve.audit.list({ principal: name })).length === 1;
  if (act === "forget") return hasForgotten(varve, name);
  const tokens = (await varve.accessTokens.list()).filter((token) => token.name === name);
  const active = tokens.filter(({ revokedAt }) => revokedAt === null);
  // A rotation that is cut off leaves the old token valid, or the new one, and never both or none.
  assert.ok(tokens.length === 0 || active.length === 1, `${name} has ${active.length} active tokens`);
  return tokens.length >= (act === "create" ? 1 : 2);
}

/** Everything of the person is there, or nothing is. */
async function hasForgotten(varve: Varve, name: string): Promise<boolean> {
  const { erased } = await varve.forgetPerson(`crash:${name}`, { dryRun: true });
  const left = [erased.sessions, erased.memories];
  assert.ok(
    left.every((count) => count === 0) || left.every((count) => count > 0),
    `${name} is half forgotten: ${left}`,
  );
  return left.every((count) => count === 0);
}
