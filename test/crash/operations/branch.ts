import assert from "node:assert/strict";
import type { Message } from "../../../src/domain/index.ts";
import { assertSameMessages, everythingIn, messagesIn } from "../log.ts";
import { batchOf, markOf } from "../messages.ts";
import type { Operation, Run, Seen, Verifier } from "../operation.ts";

const address = { key: "agent:main:crash:direct:branch" };
const batchMax = 6;

/** Appends, goes back to an earlier message, appends there. */
export const branch: Operation = {
  name: "branch",
  stepsMax: 30,
  async run({ place, child, random, open, step }) {
    const varve = await open();
    const session = await varve.sessions.resolve(address);
    const written: string[] = [];
    for (let index = 0; ; index += 1) {
      const batch = `${child}-${index}`;
      const messages = batchOf(place.seed, batch, batchMax);
      await step({ batch }, () => varve.context.ingest(session, messages));
      written.push(...messages.map((message) => message.id ?? ""));
      const move = random.pick(written);
      if (random.next() < 0.6) await step({ move }, () => varve.transcripts.moveHead(session, move));
    }
  },
  verifier: (place) => branchVerifier(place.seed),
};

/** Stands for the entry that opens the session, which has another id in every copy that a check had to open it in. */
const root = "root";

/** The tree as it must be: every message with its parent, and the head. */
class Tree {
  readonly nodes = new Map<string, { message: Message; parent: string }>();
  head = root;

  add(messages: Message[]): void {
    for (const message of messages) {
      const id = message.id ?? "";
      this.nodes.set(id, { message, parent: this.head });
      this.head = id;
    }
  }

  path(): Message[] {
    const found: Message[] = [];
    for (let node = this.nodes.get(this.head); node; node = this.nodes.get(node.parent)) {
      found.unshift(node.message);
    }
    return found;
  }
}

function branchVerifier(seed: number): Verifier {
  const tree = new Tree();
  return {
    async check(varve, run) {
      const session = await varve.sessions.resolve(address);
      const { head: headId, entries } = await everythingIn(varve, session);
      const named = (id: string | null | undefined) => (id === entries[0]?.id ? root : id);
      const head = named(headId);
      const batches = new Set(entries.map((entry) => entry.type === "message" && markOf(entry.message)?.batch));
      const seen = apply(tree, seed, run, (batch) => batches.has(batch), head);
      const found = entries.filter((entry) => entry.type === "message");
      assertSameMessages(
        found.map((entry) => entry.message),
        [...tree.nodes.values()].map((node) => node.message),
        `child ${run.child}`,
      );
      for (const entry of found)
        assert.equal(named(entry.parentId), tree.nodes.get(entry.id)?.parent, `parent of ${entry.id}`);
      assert.equal(head, tree.head);
      assertSameMessages(await messagesIn(varve, session), tree.path(), "the active branch");
      return seen;
    },
  };
}

function apply(
  tree: Tree,
  seed: number,
  run: Run,
  isThere: (batch: string) => boolean,
  head: string | null | undefined,
): Seen {
  const seen: Seen = { acknowledged: 0, whole: 0, absent: 0 };
  for (const step of run.done) {
    if ("move" in step) tree.head = `${step.move}`;
    else {
      const messages = batchOf(seed, `${step.batch}`, batchMax);
      tree.add(messages);
      seen.acknowledged += messages.length;
    }
  }
  for (const step of run.pending) {
    const happened = "move" in step ? head === step.move && head !== tree.head : isThere(`${step.batch}`);
    seen[happened ? "whole" : "absent"] += 1;
    if (!happened) continue;
    if ("move" in step) tree.head = `${step.move}`;
    else tree.add(batchOf(seed, `${step.batch}`, batchMax));
  }
  return seen;
}
