import assert from "node:assert/strict";
import type { Memory, Varve } from "../../../src/index.ts";
import type { Operation, Seen, Step, Verifier } from "../operation.ts";

const factsOfBatch = 4;
const listed = 1_000;

/** Every process has an agent of its own, and so a scope of its own. */
const agentOf = (child: number) => `crash-${child}`;
const sessionOf = (child: number) => ({ key: `agent:${agentOf(child)}:crash:direct:memories` });
/** No two are alike: their figures differ. */
const given = (child: number, index: number) => `Crate ${child}.${index} stands in hall ${index}${child}.`;
const changed = (child: number, index: number) => `Crate ${child}.${index} went to yard ${index}${child}.`;
const said = (child: number, index: number, place: number) =>
  `locker ${child}.${index}.${place} holds parcel ${place}${index}${child}`;

/** What is kept by hand, changed, forgotten, and drawn from a conversation. */
export const memories: Operation = {
  name: "memories",
  stepsMax: 10,
  async run({ child, open, step }) {
    const varve = await open();
    const as = { agent: agentOf(child) };
    const session = await varve.sessions.resolve({ ...sessionOf(child), owner: true });
    for (let index = 0; ; index += 1) {
      const added = await step({ add: index }, () =>
        varve.memory.add({ ...as, text: given(child, index), force: true }),
      );
      const id = added.current.id;
      if (index % 3 === 1)
        await step({ update: index }, () => varve.memory.update(id, { text: changed(child, index) }, as));
      if (index % 3 === 2) await step({ forget: index }, () => varve.memory.forget({ id }, as));
      if (index % 2 === 0) {
        const lines = Array.from({ length: factsOfBatch }, (_, place) => `Remember that ${said(child, index, place)}.`);
        const content = lines.join("\n");
        await varve.context.ingest(session, [{ id: `m${index}`, role: "user", content }]);
        await step({ extract: index }, () => varve.memory.extract(session));
      }
    }
  },
  verifier: () => new MemoriesVerifier(),
};

class MemoriesVerifier implements Verifier {
  private readonly done = new Map<number, Step[]>();

  async check(varve: Varve, { child, done, pending }: Parameters<Verifier["check"]>[1]): Promise<Seen> {
    this.done.set(child, done);
    const seen: Seen = { acknowledged: done.length, whole: 0, absent: 0 };
    for (const [one, steps] of this.done) {
      const all = await everythingOf(varve, one);
      for (const step of steps)
        assert.equal(happened(all, one, step), true, `${JSON.stringify(step)} of ${one} is gone`);
      await openEvidence(varve, one, all);
      assertOnce(all);
    }
    const all = await everythingOf(varve, child);
    for (const step of pending) {
      const outcome = happened(all, child, step);
      assert.notEqual(outcome, "half", `half of ${JSON.stringify(step)} of ${child} was written`);
      if (outcome === true) seen.whole += 1;
      else seen.absent += 1;
    }
    return seen;
  }

  /** What was cut off is read again from its start, and nothing is kept twice. */
  async finish(varve: Varve): Promise<void> {
    for (const [child, steps] of this.done) {
      const session = await varve.sessions.resolve({ ...sessionOf(child), owner: true });
      await varve.memory.extract(session);
      const all = await everythingOf(varve, child);
      assertOnce(all);
      for (const step of steps) assert.equal(happened(all, child, step), true, `${JSON.stringify(step)} is gone`);
    }
  }
}

async function everythingOf(varve: Varve, child: number): Promise<Memory[]> {
  const as = { agent: agentOf(child) };
  const found: Memory[] = [];
  for (let offset = 0; ; offset += listed) {
    const page = await varve.memory.list({ ...as, includeHistory: true, limit: listed, offset });
    found.push(...page.memories);
    if (found.length >= page.total) return found;
  }
}

/** Whether a step left everything it writes, nothing, or some of it. */
function happened(all: readonly Memory[], child: number, step: Step): boolean | "half" {
  const saying = (text: string) => all.filter((one) => one.content.includes(text));
  if (step.add !== undefined) return saying(given(child, Number(step.add))).length > 0;
  if (step.update !== undefined) {
    const index = Number(step.update);
    const [before] = saying(given(child, index));
    const [after] = saying(changed(child, index));
    if (!after && before?.invalidatedAt === undefined) return false;
    return after?.supersedes === before?.id && before?.supersededBy === after?.id ? true : "half";
  }
  if (step.forget !== undefined) {
    const [one] = saying(given(child, Number(step.forget)));
    if (one?.forgottenAt === undefined && one?.invalidatedAt === undefined) return false;
    return one.forgottenAt === one.invalidatedAt ? true : "half";
  }
  const index = Number(step.extract);
  const held = Array.from({ length: factsOfBatch }, (_, place) => saying(said(child, index, place)).length > 0);
  if (held.every(Boolean)) return true;
  return held.some(Boolean) ? "half" : false;
}

/** The words a memory rests on are in the log, and they say it. */
async function openEvidence(varve: Varve, child: number, all: readonly Memory[]): Promise<void> {
  const as = { agent: agentOf(child) };
  for (const memory of all.filter((one) => one.sources.length > 0).slice(0, 20)) {
    const { evidence, missing } = await varve.memory.get(memory.id, as);
    assert.deepEqual(missing, [], `evidence of ${memory.id} is missing`);
    assert.ok(
      evidence.every((one) => one.quote.includes("locker")),
      `evidence of ${memory.id} says something else`,
    );
  }
}

function assertOnce(all: readonly Memory[]): void {
  const believed = all.filter((one) => one.invalidatedAt === undefined).map((one) => one.content);
  assert.equal(new Set(believed).size, believed.length, "something is believed twice");
}
