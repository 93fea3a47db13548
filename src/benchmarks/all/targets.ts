/** A target of the quality goals: at least or at most a value. */
export interface Target {
  /** The name of a result, with its size after `@` where it has one. */
  result: string;
  title: string;
  goal: "at least" | "at most";
  value: number;
  unit: string;
  /** Whether the ratio to the baseline of the same run is compared instead of the value. */
  ratio?: boolean;
}

const speed: Target[] = [10_000, 100_000, 1_000_000].flatMap((size): Target[] => [
  target(`ingest.batch@${size}`, "ingest in batches, relative to the floor", "at least", 0.75, "", true),
  target(`ingest.single@${size}`, "ingest one by one, relative to the floor", "at least", 0.7, "", true),
  target(`assemble@${size}`, "assemble at 8,000 tokens, p95 relative to 1,000 messages", "at most", 2, "", true),
  target(`fulltext@${size}`, "full text in one conversation, p95 relative to bare FTS5", "at most", 3, "", true),
  target(`regex@${size}`, "regular expression with a literal", "at least", 100, "MB/s"),
  target(`regex.scan@${size}`, "regular expression without a literal", "at least", 150, "MB/s"),
  target(`hybrid.p95@${size}`, "hybrid search, p95", "at most", size > 100_000 ? 120 : 40, "ms"),
  target(`memory.store@${size}`, "memories stored by one writer", "at least", 1_200, "/s"),
  target(`eventloop.p999@${size}`, "event-loop delay during ingest, p99.9", "at most", 20, "ms"),
  target(`eventloop.recall.p999@${size}`, "event-loop delay during searches and sweep, p99.9", "at most", 20, "ms"),
  target(`db.ratio@${size}`, "database size", "at most", 2.2, "× raw text"),
  target(`cli.cold.search@${size}`, "a cold `varve search`", "at most", 0.4, "s"),
  target(`rss.idle@${size}`, "idle gateway without the model", "at most", 110, "MB"),
]);

/** Everything that `varve bench all` compares with a goal. */
export const targets: readonly Target[] = [
  ...speed,
  target("sweep@100000", "full sweep by the built-in summariser", "at most", 8, "s"),
  target("meaning.first@100000", "from the end of an import to the first search by meaning", "at most", 60, "s"),
  target("recall.locomo.5", "LoCoMo recall@5", "at least", 0.76, ""),
  target("recall.locomo.10", "LoCoMo recall@10", "at least", 0.84, ""),
  target("recall.locomo.20", "LoCoMo recall@20", "at least", 0.89, ""),
  target("recall.locomo.ndcg", "LoCoMo NDCG@10", "at least", 0.67, ""),
  target("gain.realtalk", "REALTALK recall@10 above BM25 in the same run", "at least", 0.2, ""),
  target("gain.beam-100k", "BEAM-100k recall@10 above BM25", "at least", 0.25, ""),
  target("gain.beam-500k", "BEAM-500k recall@10 above BM25", "at least", 0.25, ""),
  ...["locomo", "realtalk", "beam-100k", "beam-500k"].flatMap((name) => [
    target(`instant.${name}`, `${name}: recall@10 that the instant tier alone loses`, "at most", 0.04, ""),
    target(`recall.${name}.p95`, `${name}: a query, p95`, "at most", 150, "ms"),
  ]),
  target("auroc.realtalk", "REALTALK unanswerable questions, AUROC", "at least", 0.9, ""),
  target("auroc.beam-100k", "BEAM-100k unanswerable questions, AUROC", "at least", 0.75, ""),
  target("context.locomo", "LoCoMo evidence in view at 8,000 tokens", "at least", 0.93, ""),
  target("context.beam-100k", "BEAM-100k evidence in view at 8,000 tokens", "at least", 0.65, ""),
  target("reachable.locomo", "LoCoMo evidence reachable in two calls", "at least", 0.93, ""),
  target("reachable.beam-100k", "BEAM-100k evidence reachable in two calls", "at least", 0.85, ""),
  target("memory.different", "different facts both kept", "at least", 0.98, ""),
  target("memory.updates", "updates replaced", "at least", 0.7, ""),
  target("memory.noise", "unrelated prompts that bring up a memory, worst language", "at most", 0.03, ""),
  target("memory.found", "related prompts that find their memory, English", "at least", 0.85, ""),
  target("overhead.p95", "overhead of a turn, p95", "at most", 30, "ms"),
];

function target(
  result: string,
  title: string,
  goal: Target["goal"],
  value: number,
  unit: string,
  ratio = false,
): Target {
  return { result, title, goal, value, unit, ...(ratio ? { ratio } : {}) };
}

export interface ScoreRow extends Target {
  size?: number;
  measured: number;
  /** Relative to the baseline of the same run, where there is one. */
  ratioMeasured?: number;
  met: boolean;
}

/** The targets for which there is a result, each with whether it is met. */
export function scoreResults(
  results: readonly { name: string; size?: number; value: number; ratio?: number }[],
): ScoreRow[] {
  const known = new Map(
    results.flatMap((one) => [[one.name, one] as const, [`${one.name}@${one.size}`, one] as const]),
  );
  return targets.flatMap((goal): ScoreRow[] => {
    const found = known.get(goal.result);
    const measured = goal.ratio ? found?.ratio : found?.value;
    if (measured === undefined) return [];
    const met = goal.goal === "at least" ? measured >= goal.value : measured <= goal.value;
    return [
      {
        ...goal,
        ...(goal.result.includes("@") ? { size: found?.size } : {}),
        measured,
        ...(found?.ratio === undefined ? {} : { ratioMeasured: found.ratio }),
        met,
      },
    ];
  });
}
