import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatDayTime, formatExactTime, formatRecent } from "./format.ts";

/** A time in the person's zone, with the exact one on hover. */
export function Time({ value, full = false }: { value: number; full?: boolean }) {
  return (
    <time dateTime={new Date(value).toISOString()} title={formatExactTime(value)}>
      {full ? formatDayTime(value) : formatRecent(value)}
    </time>
  );
}

/** A command with a button that copies it. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <div class="copy">
      <code>{text}</code>
      <button type="button" class="button quiet" aria-label={`${label}: ${text}`} onClick={() => void copy()}>
        {isCopied ? "Copied" : label}
      </button>
    </div>
  );
}

interface EmptyProps {
  title: string;
  /** Whether it is all that the page shows: then its title is the page's. */
  isPage?: boolean;
  children?: ComponentChildren;
}

export function Empty({ title, isPage = false, children }: EmptyProps) {
  return (
    <div class="empty">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </div>
  );
}

export function Fault({ text, onRetry }: { text: string | undefined; onRetry?: () => void }) {
  if (text === undefined) return null;
  return (
    <div class="notice danger row" role="alert">
      <span class="grow">{text}</span>
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** One number with its name. */
export function Figure({ name, value, note }: { name: string; value: string; note?: string }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>
        {value}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}

/** A choice of one value among several, as chips. */
export function Choice<T extends string>({
  name,
  value,
  options,
  onChange,
}: {
  name: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="chips" role="radiogroup" aria-label={name}>
      {options.map(([one, label]) => (
        <button
          key={one}
          type="button"
          class="chip"
          role="radio"
          aria-checked={one === value}
          onClick={() => onChange(one)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
