/** A span of time that a question names. */
export interface TimeSpan {
  from: number;
  to: number;
  /** The words it was read from. */
  text: string;
}

export function timeOf(_query: string, _now: number): TimeSpan | undefined {
  return undefined;
}

const slackMs = 2 * 86_400_000;

/** 1 inside the span, half as much just outside it, 0 elsewhere. */
export function fitOf(span: TimeSpan, time: number): number {
  if (time >= span.from && time < span.to) return 1;
  return time >= span.from - slackMs && time < span.to + slackMs ? 0.5 : 0;
}
