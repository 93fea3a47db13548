import fc from "fast-check";
import { expect, test } from "vitest";
import { type EntryPlace, planAppend } from "./append-plan.ts";
import type { EntryRow } from "./port.ts";

const row = (id: string, parentId?: string | null): EntryRow => ({
  id,
  parentId,
  kind: "user",
  time: 0,
  tokens: 1,
  payload: "{}",
  words: "",
  countsAsMessage: true,
});

/** An in-memory log that applies plans, and the tree it should contain. */
class Model {
  readonly places = new Map<string, EntryPlace>();
  readonly parents = new Map<string, string | null>();
  readonly branches = new Map<number, { parent: number | null; fork: number | null; tip: number | undefined }>();
  head: EntryPlace | undefined;
  seq = 0;

  append(rows: EntryRow[]): void {
    const plan = planAppend(
      { agent: "a", conversation: 1, transcript: 1, now: 0, entries: rows },
      {
        head: this.head,
        branchCount: this.branches.size,
        find: (id) => this.places.get(id),
        findTip: (branch) => this.branches.get(branch)?.tip,
      },
      () => {
        this.seq += 1;
        return this.seq;
      },
    );
    for (const branch of plan.newBranches) {
      this.branches.set(branch.branch, { parent: branch.parent_branch, fork: branch.fork_seq, tip: undefined });
    }
    for (const planned of plan.rows) this.places.set(planned.id, { branch: planned.branch, seq: planned.seq });
    for (const [branch, tip] of plan.tips) {
      const known = this.branches.get(branch);
      if (known) known.tip = tip;
    }
    this.head = plan.head;
  }

  findParent(id: string): string | null {
    const place = this.places.get(id);
    if (!place) return null;
    const before = [...this.places]
      .filter(([, one]) => one.branch === place.branch && one.seq < place.seq)
      .sort((a, b) => b[1].seq - a[1].seq)[0];
    if (before) return before[0];
    const fork = this.branches.get(place.branch)?.fork;
    return [...this.places].find(([, one]) => one.seq === fork)?.[0] ?? null;
  }
}

test("the stored tree is the one the parents describe, for batches of any size", () => {
  const step = fc.record({ parent: fc.oneof(fc.constant("head"), fc.constant("root"), fc.nat(30)), cut: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      const model = new Model();
      const expected = new Map<string, string | null>();
      let last: string | null = null;
      let batch: EntryRow[] = [];
      steps.forEach((one, index) => {
        const id = `e${index}`;
        const parent =
          one.parent === "head" ? last : one.parent === "root" ? null : index === 0 ? null : `e${one.parent % index}`;
        expected.set(id, parent);
        batch.push(one.parent === "head" ? row(id) : row(id, parent));
        last = id;
        if (one.cut) {
          model.append(batch);
          batch = [];
        }
      });
      model.append(batch);
      for (const [id, parent] of expected) expect([id, model.findParent(id)]).toEqual([id, parent]);
      model.append([...expected.keys()].map((id) => row(id)));
      expect(model.places.size).toBe(expected.size);
    }),
    { numRuns: 500 },
  );
});
