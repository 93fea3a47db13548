import { formatNumber, formatPercent } from "../../ui/format.ts";
import type { WindowPart } from "./parts.ts";

/** The window as one bar. */
export function WindowBar({ parts, label }: { parts: readonly WindowPart[]; label: string }) {
  const total = Math.max(
    1,
    parts.reduce((sum, { tokens }) => sum + tokens, 0),
  );
  return (
    <figure class="window">
      <div class="window-bar" aria-hidden="true">
        {parts
          .filter(({ tokens }) => tokens > 0)
          .map(({ name, colour, tokens }) => (
            <div
              key={name}
              style={{ width: `${(tokens / total) * 100}%`, background: `var(${colour})` }}
              title={`${name}: ${formatNumber(tokens)} tokens`}
            />
          ))}
      </div>
      <figcaption>
        <span class="visually-hidden">{label}</span>
        <ul class="plain window-legend">
          {parts.map(({ name, colour, tokens, items }) => (
            <li key={name}>
              <span class="swatch" style={{ background: `var(${colour})` }} />
              {name}{" "}
              <strong>
                {formatNumber(tokens)}
                {items > 1 ? ` in ${formatNumber(items)}` : ""}
              </strong>
              <span class="soft"> {formatPercent(tokens / total)}</span>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}
