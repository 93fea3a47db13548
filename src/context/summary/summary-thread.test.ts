import { describe, expect, it } from "vitest";
import { writeBuiltInSummary } from "./built-in-summary.ts";
import type { SummaryRequest, SummaryTurn } from "./summary-request.ts";
import { SummaryThread } from "./summary-thread.ts";
import { WorkSession } from "./work-log/session.test-util.ts";

const targets = { timeZone: "Europe/Berlin", leafTargetTokens: 600, condensedTargetTokens: 300 };

function createTalk(count: number): SummaryTurn[] {
  return Array.from({ length: count }, (_, index) => ({
    time: Date.UTC(2026, 2, 3) + index * 60_000,
    role: index % 2 === 0 ? "user" : "assistant",
    text: `Item ${index} of the harbour list was checked by crew ${index % 7}; café, 港, \ud83d\ude00 and half \ud83d of one.`,
  }));
}

function createWork(): SummaryTurn[] {
  const work = new WorkSession();
  for (let index = 0; index < 40; index += 1) {
    work
      .user(`Please correct the rounding of invoice ${index} in src/invoice-${index}.ts.`)
      .tool("Edit", { file_path: `src/invoice-${index}.ts`, old_string: "floor", new_string: "round" })
      .bash("npm test", index % 3 === 0 ? "1 failed" : "12 passed", index % 3 === 0)
      .assistant(`The total of invoice ${index} is rounded to whole cents now.`);
  }
  return work.turns;
}

const leaves: SummaryRequest[] = [
  { depth: 0, turns: createTalk(200) },
  { depth: 0, turns: createTalk(200), previousSummary: "Item 3 of the harbour list was checked.", sourceTokens: 5_000 },
  { depth: 0, turns: createWork() },
  { depth: 0, turns: createTalk(1) },
];
const texts = leaves.map((leaf) => writeBuiltInSummary(leaf, targets).content);
const condensed: SummaryRequest = {
  depth: 1,
  turns: texts.map((text, index) => ({ time: index, until: index + 1, role: "user", speaker: "summary", text })),
};

describe("the thread of the built-in summariser", () => {
  it("writes byte for byte what the calling thread writes", async () => {
    const thread = new SummaryThread();
    const requests = [...leaves, condensed];
    const written = await Promise.all(requests.map((request) => thread.write(request, targets)));
    expect(written).toEqual(requests.map((request) => writeBuiltInSummary(request, targets)));
    expect(written.at(-2)?.fault).toContain("too small");
  });

  it("is not started for a short sweep, and used by a long one", async () => {
    const write = new SummaryThread().startSweep();
    const request = leaves[0] as SummaryRequest;
    const answers = Array.from({ length: 3 }, () => write(request, targets));
    expect(answers.map((answer) => answer instanceof Promise)).toEqual([false, false, true]);
    expect(new Set((await Promise.all(answers)).map(({ content }) => content))).toEqual(new Set([texts[0]]));
  });

  it("ends a request when its signal is aborted, and continues with others", async () => {
    const thread = new SummaryThread();
    const stop = new AbortController();
    const request = leaves[0] as SummaryRequest;
    const stopped = thread.write({ ...request, signal: stop.signal }, targets);
    const other = thread.write(request, targets);
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });
    expect((await other).content).toBe(texts[0]);
    await expect(thread.write({ ...request, signal: stop.signal }, targets)).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("reports an error of the summariser, and continues", async () => {
    const thread = new SummaryThread();
    const broken = { depth: 0, turns: [{ time: 0, text: undefined }] } as unknown as SummaryRequest;
    await expect(thread.write(broken, targets)).rejects.toMatchObject({ code: "INTERNAL" });
    expect((await thread.write(leaves[0] as SummaryRequest, targets)).content).toBe(texts[0]);
  });

  it("fails a request that cannot be sent to it", async () => {
    const thread = new SummaryThread();
    const message = { role: "user", content: "x", extra: () => 1 };
    const foreign = { depth: 0, turns: [{ time: 0, text: "x", message }] } as unknown as SummaryRequest;
    await expect(thread.write(foreign, targets)).rejects.toThrow("could not be cloned");
    expect((await thread.write(leaves[0] as SummaryRequest, targets)).content).toBe(texts[0]);
  });
});
