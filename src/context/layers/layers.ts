/** The layers of a conversation, as a core sample shows them: what it consists of at one level of detail. */
import { VarveError } from "../../domain/index.ts";
import type { Store } from "../../store/index.ts";
import { readActivePath, type Segment } from "../../transcript/index.ts";
import { type ConversationRef, readSources, readSummaries, type StoredSummary } from "../dag.ts";
import { loadFrontier } from "../frontier.ts";
import type { Layer, Layers } from "./layer.ts";
import { readMessageLayers } from "./message-layers.ts";

export interface LayerRequest {
  /** The summary to open; absent for the whole conversation. */
  summary?: string;
  /** The run of messages to open. */
  fromSeq?: number;
  toSeq?: number;
  /** How many layers of messages at most; runs stand for the rest. Default: 200. */
  limit?: number;
}

const limitDefault = 200;
const titleCharsMax = 160;

/**
 * Reads the layers at one level: the summaries of the context and the messages after them, or what a summary or a run
 * consists of. Its cost depends on `limit`, not on the length of the conversation.
 */
export async function readLayers(store: Store, ref: ConversationRef, request: LayerRequest = {}): Promise<Layers> {
  const limit = request.limit ?? limitDefault;
  const messages = await countMessages(store, ref);
  if (request.summary !== undefined) return { ...(await openSummary(store, ref, request.summary, limit)), messages };
  if (request.fromSeq !== undefined || request.toSeq !== undefined) {
    const path = await readActivePath(store, ref);
    const range = { from: request.fromSeq ?? 0, to: request.toSeq ?? path.at(-1)?.upTo ?? 0 };
    return { ...(await readMessageLayers(store, ref.agent, path, range, limit)), messages };
  }
  const { summaries, coveredSeq, path } = await loadFrontier(store, ref);
  const covered = summaries.reduce((sum, one) => sum + one.sourceMessageCount, 0);
  const range = { from: coveredSeq + 1, to: path.at(-1)?.upTo ?? 0, messages: Math.max(0, messages - covered) };
  const tail = await readMessageLayers(store, ref.agent, path, range, limit);
  return { layers: [...summaries.map(toSummaryLayer), ...tail.layers], isEstimated: tail.isEstimated, messages };
}

async function openSummary(
  store: Store,
  ref: ConversationRef,
  id: string,
  limit: number,
): Promise<Pick<Layers, "layers" | "isEstimated">> {
  const [summary] = await readSummaries(store.db, ref.agent, [id]);
  const path = await readActivePath(store, ref);
  if (!summary || !isOnPath(path, summary)) {
    throw new VarveError("NOT_FOUND", `This conversation has no summary ${JSON.stringify(id.slice(0, 80))}.`, {
      remedy: "Take the id of a summary from the layers of the conversation.",
    });
  }
  if (summary.kind === "condensed") {
    const sources = await readSources(store.db, ref.agent, summary);
    const ids = sources.flatMap((source) => ("summary" in source ? [source.summary] : []));
    const children = await readSummaries(store.db, ref.agent, ids);
    return { layers: children.map(toSummaryLayer), isEstimated: false };
  }
  const range = { from: summary.firstSeq, to: summary.lastSeq, messages: summary.sourceMessageCount };
  return readMessageLayers(store, ref.agent, path, range, limit);
}

/** A summary of a conversation that this one was not forked from must not be opened through it. */
function isOnPath(path: readonly Segment[], { conversation, lastSeq }: StoredSummary): boolean {
  return path.some((segment) => segment.conversation === conversation && lastSeq <= segment.upTo);
}

async function countMessages(store: Store, ref: ConversationRef): Promise<number> {
  const row = await store.db
    .selectFrom("conversations")
    .select("message_count")
    .where("agent", "=", ref.agent)
    .where("id", "=", ref.conversation)
    .executeTakeFirst();
  return row?.message_count ?? 0;
}

function toSummaryLayer(summary: StoredSummary): Layer {
  return {
    kind: "summary",
    id: summary.id,
    depth: summary.depth + 1,
    firstSeq: summary.firstSeq,
    lastSeq: summary.lastSeq,
    messages: summary.sourceMessageCount,
    tokens: summary.tokens,
    earliestAt: summary.earliestAt,
    latestAt: summary.latestAt,
    title: findTitle(summary.content),
  };
}

/** The first line with words, without the marks of Markdown. */
function findTitle(content: string): string {
  const lines = content.slice(0, 2_000).split("\n");
  const line = lines.map((one) => one.replace(/^[\s#>*-]+/, "").trim()).find((one) => one !== "") ?? "";
  return line.length > titleCharsMax ? `${line.slice(0, titleCharsMax - 1)}…` : line;
}
