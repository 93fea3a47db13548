import { type Entry, getParts, type Part } from "../../domain/index.ts";
import type { ExportHeader } from "./jsonl.ts";
import { formatTime } from "./markdown.ts";

const style = `
:root { color-scheme: light dark; --line: #8884; --muted: #767676; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
header { border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
article { border-left: 3px solid var(--line); padding: .1rem 0 .1rem 1rem; margin: 1.2rem 0; overflow-wrap: anywhere; }
article.user { border-color: #2f6fed; } article.assistant { border-color: #1f8a5b; } article.tool { border-color: #b7791f; }
h2 { font-size: .9rem; margin: 0; } time, .note { color: var(--muted); font-weight: normal; }
pre { white-space: pre-wrap; background: #8881; padding: .6rem; border-radius: .4rem; } p { white-space: pre-wrap; }
`;

export function htmlHeader(header: ExportHeader): string {
  const title = escapeHtml(header.title ?? header.key);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title><style>${style}</style></head><body>
<header><h1>${title}</h1><p class="note">${escapeHtml(header.key)} · ${escapeHtml(header.sessionId)} · ${formatTime(header.startedAt)}</p></header>
<main>
`;
}

export const htmlFooter = "</main></body></html>\n";

export function htmlEntry(entry: Entry): string {
  const time = `<time datetime="${new Date(entry.time).toISOString()}">${formatTime(entry.time)}</time>`;
  switch (entry.type) {
    case "message":
    case "custom_message": {
      const { role, name } = entry.message;
      const body = getParts(entry.message).map(htmlPart).join("\n");
      const speaker = escapeHtml(name ? `${name} (${role})` : role);
      return `<article class="${role}" id="e${entry.seq}"><h2>${speaker} ${time}</h2>${body}</article>\n`;
    }
    case "compaction":
    case "branch_summary":
      return `<article id="e${entry.seq}"><h2>Summary ${time}</h2><p>${escapeHtml(entry.summary)}</p></article>\n`;
    case "reset":
      return `<p class="note">${entry.mode === "new" ? "A new session began" : "The conversation was reset"} (${escapeHtml(entry.reason)}) ${time}</p>\n`;
    case "model_change":
      return `<p class="note">Model: ${escapeHtml([entry.provider, entry.model].filter(Boolean).join("/"))} ${time}</p>\n`;
    case "session":
    case "custom":
    case "label":
      return "";
  }
}

function htmlPart(part: Part): string {
  switch (part.type) {
    case "text":
      return `<p>${escapeHtml(part.text)}</p>`;
    case "reasoning":
      return part.text === "" ? "" : `<details><summary>Reasoning</summary><p>${escapeHtml(part.text)}</p></details>`;
    case "tool_call":
      return `<details open><summary>Calls <code>${escapeHtml(part.name)}</code></summary><pre>${escapeHtml(part.inputText ?? JSON.stringify(part.input, null, 2))}</pre></details>`;
    case "tool_result": {
      const label = `${part.isError ? "Error" : "Result"}${part.name ? ` of ${part.name}` : ""}`;
      const output =
        typeof part.output === "string"
          ? `<pre>${escapeHtml(part.output)}</pre>`
          : part.output.map(htmlPart).join("\n");
      return `<details><summary>${escapeHtml(label)}</summary>${output}</details>`;
    }
    case "compaction":
      return `<p>${escapeHtml(part.summary ?? "")}</p>`;
    case "opaque":
      return `<pre>${escapeHtml(JSON.stringify(part.raw.block, null, 2))}</pre>`;
    case "image":
    case "file":
      return `<p class="note">[${part.type}${"name" in part && part.name ? `: ${escapeHtml(part.name)}` : ""}]</p>`;
    case "patch":
      return `<p class="note">[changed: ${escapeHtml(part.files.join(", "))}]</p>`;
    case "subtask":
      return `<p>${escapeHtml(part.prompt)}</p>`;
    case "agent":
      return `<p class="note">[agent: ${escapeHtml(part.name)}]</p>`;
    case "step_start":
    case "step_finish":
    case "snapshot":
    case "retry":
      return "";
  }
}

export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
