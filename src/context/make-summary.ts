import { type Clock, type Entry, getParts } from "../domain/index.ts";
import type { Store } from "../store/index.ts";
import { estimateTokens } from "../tokens/index.ts";
import { findEntryFiles, getEntryText } from "../transcript/index.ts";
import type { ConversationRef, StoredSummary, SummarySource } from "./dag.ts";
import type { Summarise, SummaryTurn } from "./summarise.ts";
import { summaryId } from "./summary-id.ts";
import type { MessageEntry } from "./window.ts";

export interface MadeSummary {
  node: StoredSummary;
  sources: SummarySource[];
  calls: number;
  faults: string[];
}

interface MakeOptions {
  instructions?: string;
  signal?: AbortSignal;
}

/** A leaf: a run of messages as one summary. The summary before it goes along, so that nothing is said twice. */
export async function leafNode(
  host: { store: Store; clock: Clock; summarise: Summarise },
  ref: ConversationRef,
  said: MessageEntry[],
  previous: StoredSummary | undefined,
  options: MakeOptions,
): Promise<MadeSummary> {
  const turns = said.map(({ entry, message }): SummaryTurn => {
    const calls = getParts(message).flatMap((part) => (part.type === "tool_call" ? [part.name] : []));
    return {
      time: entry.time,
      speaker: message.name ?? message.role,
      role: message.role,
      text: getEntryText(entry),
      ...(calls.length > 0 ? { toolNames: calls } : {}),
    };
  });
  const request = lastRequest(said.map((one) => one.entry));
  const written = await host.summarise({
    depth: 0,
    turns,
    sourceTokens: said.reduce((sum, one) => sum + one.item.tokens, 0),
    previousSummary: previous?.content,
    latestUserRequest: request,
    ...options,
  });
  const sources: SummarySource[] = said.map(({ entry }) => ({ entrySeq: entry.seq }));
  const times = said.map(({ entry }) => entry.time);
  const node: StoredSummary = {
    id: summaryId({
      conversation: String(ref.conversation),
      depth: 0,
      sources: said.map(({ entry }) => String(entry.seq)),
      content: written.content,
    }),
    kind: "leaf",
    depth: 0,
    content: written.content,
    tokens: estimateTokens(written.content),
    earliestAt: Math.min(...times),
    latestAt: Math.max(...times),
    descendantCount: 0,
    descendantTokens: 0,
    sourceMessageTokens: said.reduce((sum, one) => sum + one.item.tokens, 0),
    sourceMessageCount: said.length,
    fileIds: await findEntryFiles(
      host.store,
      ref.agent,
      said.map(({ entry }) => entry.seq),
    ),
    ...(written.model === undefined ? {} : { model: written.model }),
    promptVersion: written.promptVersion,
    level: written.level,
    createdAt: host.clock.now(),
    conversation: ref.conversation,
    firstSeq: said[0]?.entry.seq ?? 0,
    lastSeq: said.at(-1)?.entry.seq ?? 0,
    quality: { faults: written.faults },
  };
  return { node, sources, calls: written.calls, faults: written.faults };
}

/** A condensed summary: a run of summaries of one depth as one of the next. */
export async function condensedNode(
  host: { clock: Clock; summarise: Summarise },
  ref: ConversationRef,
  children: StoredSummary[],
  previous: StoredSummary | undefined,
  options: MakeOptions,
): Promise<MadeSummary> {
  const depth = (children[0]?.depth ?? 0) + 1;
  const turns = children.map(
    (child): SummaryTurn => ({
      time: child.earliestAt,
      until: child.latestAt,
      speaker: "summary",
      role: "user",
      text: child.content,
    }),
  );
  const written = await host.summarise({
    depth,
    turns,
    sourceTokens: children.reduce((sum, child) => sum + child.sourceMessageTokens, 0),
    previousSummary: previous?.content,
    ...options,
  });
  const sum = (pick: (child: StoredSummary) => number) => children.reduce((total, child) => total + pick(child), 0);
  const node: StoredSummary = {
    id: summaryId({
      conversation: String(ref.conversation),
      depth,
      sources: children.map((child) => child.id),
      content: written.content,
    }),
    kind: "condensed",
    depth,
    content: written.content,
    tokens: estimateTokens(written.content),
    earliestAt: Math.min(...children.map((child) => child.earliestAt)),
    latestAt: Math.max(...children.map((child) => child.latestAt)),
    descendantCount: sum((child) => child.descendantCount + 1),
    descendantTokens: sum((child) => child.descendantTokens + child.tokens),
    sourceMessageTokens: sum((child) => child.sourceMessageTokens),
    sourceMessageCount: sum((child) => child.sourceMessageCount),
    fileIds: [...new Set(children.flatMap((child) => child.fileIds))],
    ...(written.model === undefined ? {} : { model: written.model }),
    promptVersion: written.promptVersion,
    level: written.level,
    createdAt: host.clock.now(),
    conversation: ref.conversation,
    firstSeq: children[0]?.firstSeq ?? 0,
    lastSeq: children.at(-1)?.lastSeq ?? 0,
    quality: { faults: written.faults },
  };
  return {
    node,
    sources: children.map((child) => ({ summary: child.id })),
    calls: written.calls,
    faults: written.faults,
  };
}

function lastRequest(entries: Entry[]): string | undefined {
  const last = entries.findLast((entry) => entry.type === "message" && entry.message.role === "user");
  return last && getEntryText(last);
}
