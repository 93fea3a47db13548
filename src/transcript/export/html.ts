import type { Entry } from "../../domain/index.ts";
import { escapeHtml } from "../render/escape-html.ts";
import { renderEvent } from "../render/message-html.ts";
import type { ExportHeader } from "./jsonl.ts";
import { formatTime } from "./markdown.ts";

const style = `
:root { color-scheme: light dark; --line: #8884; --muted: #767676; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
article { border-left: 3px solid var(--line); padding: .1rem 0 .1rem 1rem; margin: 1.2rem 0; overflow-wrap: anywhere; }
article.user { border-color: #2f6fed; } article.assistant { border-color: #1f8a5b; } article.tool { border-color: #b7791f; }
h2 { font-size: .9rem; margin: 0; } time, .note { color: var(--muted); font-weight: normal; }
pre { white-space: pre-wrap; background: #8881; padding: .6rem; border-radius: .4rem; } .plain { white-space: pre-wrap; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--muted); } .size, .host { color: var(--muted); font-size: .85em; margin-left: .5em; }
img { max-width: 100%; }
`;

export function htmlHeader(header: ExportHeader): string {
  const title = escapeHtml(header.title ?? header.key);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${title}</title><style>${style}</style></head><body>
<header><h1>${title}</h1><p class="note">${escapeHtml(header.key)} · ${escapeHtml(header.sessionId)} · ${formatTime(header.startedAt)}</p></header>
<main>
`;
}

export const htmlFooter = "</main></body></html>\n";

/** One entry, by the same renderer as the console. */
export function htmlEntry(entry: Entry): string {
  const body = renderEvent(entry);
  const time = `<time datetime="${new Date(entry.time).toISOString()}">${formatTime(entry.time)}</time>`;
  if (entry.type === "message" || entry.type === "custom_message") {
    const { role, name } = entry.message;
    const speaker = escapeHtml(name ? `${name} (${role})` : role);
    return `<article class="${role}" id="e${entry.seq}"><h2>${speaker} ${time}</h2>${body}</article>\n`;
  }
  return body === "" ? "" : `<article id="e${entry.seq}"><h2>${time}</h2>${body}</article>\n`;
}
