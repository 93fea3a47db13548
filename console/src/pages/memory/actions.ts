import { call } from "../../api/client.ts";
import { navigate, setQuery } from "../../state/router.ts";
import { attempt, say } from "../../state/toasts.ts";
import type { Memory, Review } from "./queries.ts";
import { draft, loadAll } from "./state.ts";

export async function addMemory(text: string): Promise<void> {
  const done = await attempt(() => call("POST /api/memories", { body: { text } }));
  if (!done) return;
  draft.value = undefined;
  await loadAll();
  const id = done.current.id;
  if (done.decision === "skip") say("This is known already.");
  else say("Remembered.", { label: "Undo", run: () => void forgetMemory(done.current, false) });
  navigate(`/memory?id=${id}`);
}

/** Stores a corrected version; the earlier one stays in the history. */
export async function correctMemory(memory: Memory, text: string): Promise<void> {
  const done = await attempt(() => call("PATCH /api/memories/{id}", { params: { id: memory.id }, body: { text } }));
  if (!done) return;
  draft.value = undefined;
  setQuery({ id: done.id });
  await loadAll();
  say("Corrected. The earlier version stays in the history.", {
    label: "Undo",
    run: () => void undoCorrection(done, memory),
  });
}

async function undoCorrection(now: Memory, before: Memory): Promise<void> {
  const { content, importance, category } = before;
  const body = { text: content, importance, category };
  const done = await attempt(() => call("PATCH /api/memories/{id}", { params: { id: now.id }, body }));
  if (!done) return;
  setQuery({ id: done.id });
  await loadAll();
  say("The correction was undone.");
}

export async function forgetMemory(memory: Memory, canUndo = true): Promise<void> {
  const done = await attempt(() => call("POST /api/memories/{id}/forget", { params: { id: memory.id }, body: {} }));
  if (!done) return;
  await loadAll();
  if (canUndo) say("Forgotten. Its history is kept.", { label: "Undo", run: () => void restoreMemory(memory.id) });
}

export async function restoreMemory(id: string): Promise<void> {
  const done = await attempt(() => call("POST /api/memories/{id}/restore", { params: { id } }));
  if (!done) return;
  await loadAll();
  say("The memory is back.");
}

export async function decideReview(review: Review, verdict: "accepted" | "rejected"): Promise<void> {
  const done = await attempt(() =>
    call("POST /api/memories/review/{id}", { params: { id: review.id }, body: { verdict } }),
  );
  if (!done) return;
  await loadAll();
  say(verdict === "accepted" ? "Approved: it counts from now on." : "Rejected.");
}

/** The listed memories as a file. */
export function exportMemories(memories: readonly Memory[]): void {
  const lines = memories.map((memory) => JSON.stringify(memory)).join("\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`${lines}\n`], { type: "application/x-ndjson" }));
  link.download = "varve-memories.jsonl";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
