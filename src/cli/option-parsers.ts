/** Parsers of option values. Each throws the error that commander prints as wrong usage. */
import { InvalidArgumentError } from "commander";

export function parseWholeNumber(min: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min) throw new InvalidArgumentError(`must be a whole number from ${min}`);
    return value;
  };
}

export function parseFraction(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError("must be a number from 0 to 1");
  return value;
}

/** Returns milliseconds since 1970; accepts a date, a time, or such a number. */
export function parseTime(text: string): number {
  const value = /^\d{10,}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError("must be a date such as 2026-05-01 or 2026-05-01T12:00");
  return value;
}

export function parseLineRange(text: string): { from: number; to: number } {
  const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  if (from === undefined) throw new InvalidArgumentError("must be two line numbers such as 1-100");
  return { from: Number(from), to: Number(to ?? from) };
}
