import { findIdentifiers } from "../quality-guard.ts";
import type { LogLine } from "./work-log.ts";

/** References that a person names exactly: colours, variables, quoted code, names in camelCase or snake_case, versions. */
const named =
  /`([^`\n]{2,60})`|(#[0-9a-fA-F]{6}\b)|\b([A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]+)+)\b|\b([a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+)\b|\b([a-z]\w*_\w+)\b|\b(v\d+\.\d+(?:\.\d+)*|\d+\.\d+\.\d+)\b|(?<![\w/])(--[a-z][\w-]+)/g;
/** Files in temporary folders are gone when someone looks for them. */
const temporary = /(?:\/private)?\/(?:tmp|var\/folders)\/[^\s'"]*/g;
const perMessage = 10;
const charsMax = 20_000;

/** The identifiers, URLs and exact names of a text, as one line. */
export function findReferences(text: string, seq: number | undefined): LogLine[] {
  const head = text.slice(0, charsMax).replaceAll(temporary, " ");
  const found = new Set(findIdentifiers(head, perMessage).map(({ identifier }) => identifier));
  for (const match of head.matchAll(named)) {
    if (found.size >= perMessage) break;
    const name = match.slice(1).find((one) => one !== undefined);
    if (name !== undefined && ![...found].some((one) => one.includes(name))) found.add(name);
  }
  return found.size === 0 ? [] : [{ text: [...found].join(", "), ...(seq === undefined ? {} : { seq }) }];
}
