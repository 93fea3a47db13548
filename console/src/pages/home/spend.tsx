import { useEffect, useRef } from "preact/hooks";
import { formatCompact, formatNumber } from "../../ui/format.ts";
import type { Status } from "./queries.ts";

type Spend = NonNullable<Status["spend"]>;

/** Tokens by day, as a chart with a table for those who do not see it. */
export function SpendChart({ spend }: { spend: Spend }) {
  const box = useRef<HTMLDivElement>(null);
  const days = sumByDay(spend);
  useEffect(() => {
    let destroy: (() => void) | undefined;
    let isGone = false;
    if (days.length > 0) {
      void import("../../ui/chart.ts").then(({ drawBars }) => {
        if (!isGone && box.current) destroy = drawBars(box.current, days);
      });
    }
    return () => {
      isGone = true;
      destroy?.();
    };
  }, [JSON.stringify(days)]);
  const total = days.reduce((sum, day) => sum + day.input + day.output, 0);
  return (
    <section class="card" aria-label="Spend">
      <div class="spread">
        <h2>Spend by day</h2>
        <span class="soft small">
          {formatCompact(total)} tokens in {days.length} days
        </span>
      </div>
      {days.length === 0 ? (
        <p class="soft small">
          No model was called yet. Without a model, everything but answers in your words works too.
        </p>
      ) : (
        <>
          <div class="chart" ref={box} aria-hidden="true" />
          <table class="visually-hidden">
            <caption>Tokens by day</caption>
            <thead>
              <tr>
                <th>Day</th>
                <th>Read</th>
                <th>Written</th>
              </tr>
            </thead>
            <tbody>
              {days.map(({ day, input, output }) => (
                <tr key={day}>
                  <td>{day}</td>
                  <td>{formatNumber(input)}</td>
                  <td>{formatNumber(output)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

export interface DaySpend {
  day: string;
  input: number;
  output: number;
}

function sumByDay(spend: Spend): DaySpend[] {
  const days = new Map<string, DaySpend>();
  for (const { day, inputTokens, outputTokens } of spend) {
    const sum = days.get(day) ?? { day, input: 0, output: 0 };
    days.set(day, { day, input: sum.input + inputTokens, output: sum.output + outputTokens });
  }
  return [...days.values()].sort((a, b) => a.day.localeCompare(b.day)).slice(-60);
}
