/** A summary, opened from the core: its text, and the way down to the messages it was made from. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { createResource } from "../../state/resource.ts";
import { Fault, Time } from "../../ui/basics.tsx";
import { count, formatNumber } from "../../ui/format.ts";
import { Markdown } from "../../ui/message-body.tsx";

interface SummaryPanelProps {
  id: string;
  onOpen: (id: string) => void;
  onJump: (seq: number) => void;
  onClose: () => void;
}

const sourcesShown = 60;

export function SummaryPanel({ id, onOpen, onJump, onClose }: SummaryPanelProps) {
  const found = useSignal(
    createResource((signal) => call("GET /api/summaries/{id}", { params: { id }, signal })),
  ).value;
  useEffect(() => void found.load(), []);
  const data = found.data.value;
  return (
    <section class="card summary-panel" aria-label="Summary">
      <div class="spread">
        <h2>Summary</h2>
        <button type="button" class="button quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <Fault text={found.error.value} />
      {data && (
        <>
          <p class="soft small">
            {data.summary.kind === "leaf" ? "Leaf" : "Condensed"}, depth {data.summary.depth + 1}, stands for{" "}
            {count(data.summary.sourceMessageCount, "message")} ({formatNumber(data.summary.sourceMessageTokens)}{" "}
            tokens) in {formatNumber(data.summary.tokens)} tokens, from <Time value={data.summary.earliestAt} full /> to{" "}
            <Time value={data.summary.latestAt} full />, written by{" "}
            {data.summary.model ?? `the ${data.summary.level} summariser`}
          </p>
          <Markdown text={data.summary.content} />
          <h3>Made from</h3>
          <div class="chips">
            {data.parents.map((parent) => (
              <button key={parent} type="button" class="chip" onClick={() => onOpen(parent)}>
                ↑ {parent}
              </button>
            ))}
            {data.sources.slice(0, sourcesShown).map((source) => (
              <button
                key={source}
                type="button"
                class="chip"
                onClick={() => (source.startsWith("sum_") ? onOpen(source) : onJump(Number(source.replace(/\D/g, ""))))}
              >
                {source}
              </button>
            ))}
            {data.sources.length > sourcesShown && (
              <span class="soft small">and {formatNumber(data.sources.length - sourcesShown)} more</span>
            )}
          </div>
        </>
      )}
    </section>
  );
}
