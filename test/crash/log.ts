/** Reading a log back, and saying exactly where it is not what it should be. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { Entry, EntryBody, Message } from "../../src/domain/index.ts";
import type { Session, Varve } from "../../src/index.ts";
import { batchOf, markOf } from "./messages.ts";
import type { Run, Seen } from "./operation.ts";

/** The messages of the active branch, oldest first. */
export async function messagesIn(varve: Varve, session: Session): Promise<Message[]> {
  const found: Message[] = [];
  for await (const page of varve.transcripts.walk(session)) {
    for (const entry of page) if (entry.type === "message") found.push(entry.message);
  }
  return found;
}

/** An entry as an export holds it: without the numbers of the store. */
export type Exported = EntryBody & Pick<Entry, "id" | "parentId" | "sessionId" | "time">;

/** Every entry of a conversation, whatever its branch, in the order of writing. */
export async function everythingIn(
  varve: Varve,
  session: Session,
): Promise<{ head: string | undefined; entries: Exported[] }> {
  let text = "";
  for await (const piece of varve.transcripts.export(session, "jsonl")) text += piece;
  const [header, ...lines] = text.trimEnd().split("\n");
  const { head } = JSON.parse(header ?? "{}") as { head?: string };
  return { head, entries: lines.map((line) => JSON.parse(line) as Exported) };
}

/** Fails with the first difference; comparing everything at once would print everything. */
export function assertSameMessages(found: readonly Message[], expected: readonly Message[], what: string): void {
  for (let index = 0; index < Math.max(found.length, expected.length); index += 1) {
    if (isDeepStrictEqual(found[index], expected[index])) continue;
    assert.deepEqual(
      { index, length: found.length, message: found[index] },
      { index, length: expected.length, message: expected[index] },
      `${what}: message ${index} is not what was acknowledged`,
    );
  }
}

export async function assertHealthy(varve: Varve, what: string): Promise<void> {
  const report = await varve.doctor();
  const faults = report.findings.flatMap((finding) => finding.faults.map((fault) => `${finding.check}: ${fault}`));
  assert.deepEqual(faults, [], `${what}: the doctor finds faults`);
}

/** A log that one process after another appends batches to. */
export class BatchLog {
  readonly expected: Message[] = [];
  private readonly seed: number;
  private readonly sizeMax: number;

  constructor(seed: number, sizeMax?: number) {
    this.seed = seed;
    this.sizeMax = sizeMax ?? 40;
  }

  /** Everything acknowledged is there in order, and of what was under way each batch is there wholly or not at all. */
  check(found: readonly Message[], run: Run): Seen {
    const done = run.done.flatMap((step) => ("batch" in step ? batchOf(this.seed, `${step.batch}`, this.sizeMax) : []));
    this.expected.push(...done);
    const pending = run.pending.filter((step) => "batch" in step);
    const beyond = new Set(found.slice(this.expected.length).map((message) => markOf(message)?.batch));
    const whole = pending.filter((step) => beyond.has(`${step.batch}`));
    for (const step of whole) this.expected.push(...batchOf(this.seed, `${step.batch}`, this.sizeMax));
    assertSameMessages(found, this.expected, `child ${run.child}`);
    return { acknowledged: done.length, whole: whole.length, absent: pending.length - whole.length };
  }
}
