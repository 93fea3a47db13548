import type { SearchResult } from "./queries.ts";

const sourceNames: Readonly<Record<string, string>> = {
  lexical: "found by words",
  vector: "found by meaning",
  context: "found through a neighbour",
  pattern: "matches the pattern",
};

/** How a result got its rank: which legs found it, and its score after each stage. */
export function Why({ result }: { result: SearchResult }) {
  const stages = Object.entries(result.stages ?? {});
  const most = Math.max(...stages.map(([, value]) => Math.abs(value)), 0.0001);
  return (
    <div class="why">
      <p class="small">
        {result.sources.map((source) => sourceNames[source] ?? source).join(", ")}; score {result.score.toFixed(3)}
      </p>
      <dl>
        {stages.map(([name, value]) => (
          <div key={name} class="why-stage">
            <dt>{name}</dt>
            <dd>
              <div class="bar" aria-hidden="true">
                <div style={{ width: `${Math.min(100, (Math.abs(value) / most) * 100)}%` }} />
              </div>
              <span>{value.toFixed(3)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
