import type { Store } from "../../store/index.ts";
import type { Segment } from "../../transcript/index.ts";
import type { Layer, Layers } from "./layer.ts";

const roles = ["user", "assistant", "tool", "system"];
/** Rows that are counted exactly; beyond, the number of messages in a run is estimated from its share of the range. */
const countedMax = 20_000;
/** The newest messages are drawn one by one in any case. */
const singleShare = 0.5;

interface Range {
  from: number;
  to: number;
  /** How many messages the range has, where it is known without counting. */
  messages?: number;
}

interface MessageRow {
  seq: number;
  kind: string;
  time: number;
  tokens: number;
}

/** The messages of a range: one by one when they are few, otherwise in runs with the newest one by one. */
export async function readMessageLayers(
  store: Store,
  agent: string,
  path: readonly Segment[],
  range: Range,
  limit: number,
): Promise<Pick<Layers, "layers" | "isEstimated">> {
  if (range.to < range.from) return { layers: [], isEstimated: false };
  const newest = await readNewest(store, agent, path, range, countedMax + 1);
  if (newest.length <= limit) return { layers: newest.map(toMessageLayer), isEstimated: false };
  const singles = newest.slice(-Math.ceil(limit * singleShare));
  const runs = Math.max(1, limit - singles.length);
  const older = newest.slice(0, newest.length - singles.length);
  if (newest.length <= countedMax) {
    return { layers: [...splitRuns(older, runs), ...singles.map(toMessageLayer)], isEstimated: false };
  }
  const left = { from: range.from, to: (singles[0]?.seq ?? range.to) - 1 };
  const messages = Math.max(0, (range.messages ?? left.to - left.from + 1) - singles.length);
  const estimated = await estimateRuns(store, agent, path, { ...left, messages }, runs);
  return { layers: [...estimated, ...singles.map(toMessageLayer)], isEstimated: true };
}

/** The last messages of a range, oldest first, without their content. */
async function readNewest(
  store: Store,
  agent: string,
  path: readonly Segment[],
  range: Range,
  limit: number,
): Promise<MessageRow[]> {
  const rows: MessageRow[] = [];
  for (const segment of path.toReversed()) {
    if (rows.length >= limit || segment.upTo < range.from) break;
    const found = await selectMessages(store, agent, segment, range)
      .orderBy("seq", "desc")
      .limit(limit - rows.length)
      .execute();
    rows.push(...found);
  }
  return rows.reverse();
}

function toMessageLayer({ seq, kind, time, tokens }: MessageRow): Layer {
  return {
    kind: "message",
    id: `msg#${seq}`,
    depth: 0,
    firstSeq: seq,
    lastSeq: seq,
    messages: 1,
    tokens,
    earliestAt: time,
    latestAt: time,
    title: kind,
  };
}

function splitRuns(rows: readonly MessageRow[], count: number): Layer[] {
  const size = Math.ceil(rows.length / count);
  const layers: Layer[] = [];
  for (let start = 0; start < rows.length; start += size) {
    const run = rows.slice(start, start + size);
    const [first, last] = [run[0], run.at(-1)];
    if (!first || !last) continue;
    const tokens = run.reduce((sum, one) => sum + one.tokens, 0);
    layers.push(toRun(first, last, run.length, tokens));
  }
  return layers;
}

function toRun(first: MessageRow, last: MessageRow, messages: number, tokens: number): Layer {
  return {
    kind: "messages",
    id: `msg#${first.seq}-msg#${last.seq}`,
    depth: 0,
    firstSeq: first.seq,
    lastSeq: last.seq,
    messages,
    tokens,
    earliestAt: first.time,
    latestAt: last.time,
    title: "messages",
  };
}

/** Runs of equal ranges of the log. Only the rows at their ends are read. */
async function estimateRuns(
  store: Store,
  agent: string,
  path: readonly Segment[],
  range: Required<Range>,
  count: number,
): Promise<Layer[]> {
  const step = (range.to - range.from + 1) / count;
  const layers: Layer[] = [];
  let from = range.from;
  for (let index = 1; index <= count; index += 1) {
    const to = index === count ? range.to : Math.floor(range.from + step * index) - 1;
    const [last] = await readNewest(store, agent, path, { from, to }, 1);
    if (!last) continue;
    const first = (await readOldest(store, agent, path, { from, to: last.seq })) ?? last;
    const share = (to - from + 1) / (range.to - range.from + 1);
    const messages = Math.max(1, Math.round(range.messages * share));
    layers.push(toRun(first, last, messages, messages * Math.max(1, Math.round((first.tokens + last.tokens) / 2))));
    from = to + 1;
  }
  return layers;
}

async function readOldest(
  store: Store,
  agent: string,
  path: readonly Segment[],
  range: Range,
): Promise<MessageRow | undefined> {
  for (const segment of path) {
    if (segment.upTo < range.from) continue;
    const row = await selectMessages(store, agent, segment, range).orderBy("seq").limit(1).executeTakeFirst();
    if (row) return row;
  }
  return undefined;
}

/** The messages of a range that are on one segment of a path. */
function selectMessages(store: Store, agent: string, segment: Segment, range: Range) {
  return store.db
    .selectFrom("entries")
    .select(["seq", "kind", "time", "tokens"])
    .where("agent", "=", agent)
    .where("conversation", "=", segment.conversation)
    .where("branch", "=", segment.branch)
    .where("seq", ">=", range.from)
    .where("seq", "<=", Math.min(range.to, segment.upTo))
    .where("kind", "in", roles);
}
