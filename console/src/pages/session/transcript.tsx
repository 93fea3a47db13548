import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { itemStyle, useVirtual } from "../../ui/virtual.ts";
import { BranchSwitch } from "./branches.tsx";
import { EntryView } from "./entry.tsx";
import type { Branches, SessionEntry } from "./queries.ts";
import type { Transcript } from "./state.ts";

interface TranscriptProps {
  transcript: Transcript;
  branches: Branches | undefined;
  onView: (view: { from: number; to: number }) => void;
}

const estimate = 140;
const nearEnd = 6;

/** The entries in view, of a list that is loaded in pages at both ends. */
export function TranscriptView({ transcript, branches, onView }: TranscriptProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const entries = transcript.entries.value;
  const virtual = useVirtual({
    count: entries.length,
    scroller,
    estimateSize: () => estimate,
    getKey: (index) => entries[index]?.seq ?? index,
    overscan: 6,
  });
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const target = transcript.target.value;

  useLayoutEffect(() => {
    if (!target) return;
    const index = entries.findIndex((entry) => entry.seq === target.seq);
    if (index >= 0) virtual.scrollToIndex(index, { align: target.mark ? "start" : "end" });
  }, [target]);

  useEffect(() => {
    const offset = virtual.scrollOffset ?? 0;
    const height = scroller.current?.clientHeight ?? 0;
    const seen = items.filter((item) => item.end > offset && item.start < offset + height);
    const [from, to] = [entries[seen[0]?.index ?? -1]?.seq, entries[seen.at(-1)?.index ?? -1]?.seq];
    if (from !== undefined && to !== undefined) onView({ from, to });
  }, [virtual.scrollOffset, entries]);

  useEffect(() => {
    if (entries.length === 0) return;
    if (first <= nearEnd && transcript.hasOlder()) void prepend();
    else if (last >= entries.length - nearEnd && transcript.hasNewer()) void transcript.loadNewer();
  }, [first, last, entries.length]);

  /** Keeps what is being read where it is while older entries are added above. */
  const prepend = async () => {
    const anchor = entries[first];
    const offset = virtual.scrollOffset ?? 0;
    const start = items[0]?.start ?? 0;
    const added = await transcript.loadOlder();
    if (added === 0 || !anchor) return;
    requestAnimationFrame(() => {
      const index = transcript.entries.value.findIndex((entry) => entry.seq === anchor.seq);
      const now = virtual.measurementsCache[index]?.start;
      if (now !== undefined) virtual.scrollToOffset(now + (offset - start));
    });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return;
    if (event.key === "Home") void transcript.openAt(0);
    else if (event.key === "End") void transcript.openEnd();
    else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
    else return;
    event.preventDefault();
  };
  const step = (by: number) => {
    const offset = virtual.scrollOffset ?? 0;
    const at = items.find((item) => item.end > offset + 1)?.index ?? 0;
    virtual.scrollToIndex(Math.max(0, Math.min(entries.length - 1, at + by)), { align: "start" });
  };
  return (
    <section class="virtual transcript" ref={scroller} tabIndex={0} aria-label="Transcript" onKeyDown={onKeyDown}>
      <div class="virtual-space" style={{ height: `${virtual.getTotalSize()}px` }}>
        {items.map((item) => {
          const entry = entries[item.index];
          return (
            entry && (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                class="virtual-item"
                style={itemStyle(item)}
              >
                <EntryView
                  entry={entry}
                  recall={transcript.recalls.value.get(entry.seq)}
                  isMarked={target?.mark === true && target.seq === entry.seq}
                  durationMs={findDuration(entry, transcript.callTimes.value)}
                />
                <BranchSwitch transcript={transcript} branches={branches} seq={entry.seq} />
              </div>
            )
          );
        })}
      </div>
    </section>
  );
}

function findDuration({ message, time }: SessionEntry, callTimes: ReadonlyMap<string, number>): number | undefined {
  if (!Array.isArray(message?.content)) return undefined;
  for (const part of message.content) {
    if (part.type !== "tool_result") continue;
    const called = callTimes.get(part.callId);
    if (called !== undefined && time > called) return time - called;
  }
  return undefined;
}
