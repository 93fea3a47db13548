import { type Entry, getParts, type Part } from "../../domain/index.ts";
import type { ExportHeader } from "./jsonl.ts";

export function markdownHeader(header: ExportHeader): string {
  const title = header.title ?? header.key;
  return `# ${title}\n\n- session: \`${header.sessionId}\`\n- key: \`${header.key}\`\n- agent: \`${header.agent}\`\n- started: ${formatTime(header.startedAt)}\n`;
}

/** Renders an entry for people; empty for state. */
export function markdownEntry(entry: Entry): string {
  switch (entry.type) {
    case "message":
    case "custom_message": {
      const { message } = entry;
      const speaker = message.name ? `${message.name} (${message.role})` : message.role;
      const body = getParts(message).map(markdownPart).filter(Boolean).join("\n\n");
      return `\n## ${speaker} · ${formatTime(entry.time)}\n\n${body || "_(empty)_"}\n`;
    }
    case "compaction":
      return `\n## Summary of what came before · ${formatTime(entry.time)}\n\n${entry.summary}\n`;
    case "branch_summary":
      return `\n## Summary of another branch · ${formatTime(entry.time)}\n\n${entry.summary}\n`;
    case "reset":
      return `\n---\n\n_${entry.mode === "new" ? "A new session began" : "The conversation was reset"} (${entry.reason}) · ${formatTime(entry.time)}_\n`;
    case "model_change":
      return `\n_Model: ${[entry.provider, entry.model].filter(Boolean).join("/")} · ${formatTime(entry.time)}_\n`;
    case "session":
    case "custom":
    case "label":
      return "";
  }
}

function markdownPart(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "reasoning":
      return part.text === "" ? "" : quote(`Reasoning: ${part.text}`);
    case "tool_call":
      return `**Calls \`${part.name}\`**\n\n${fence(part.inputText ?? JSON.stringify(part.input, null, 2), "json")}`;
    case "tool_result": {
      const output = typeof part.output === "string" ? part.output : part.output.map(markdownPart).join("\n\n");
      return `**${part.isError ? "Error" : "Result"}${part.name ? ` of \`${part.name}\`` : ""}**\n\n${fence(output)}`;
    }
    case "image":
      return `_[image${part.source.kind === "url" ? `: ${part.source.url}` : ""}]_`;
    case "file":
      return `_[file${part.name ? `: ${part.name}` : ""}]_`;
    case "compaction":
      return part.summary ?? "";
    case "patch":
      return `_[changed: ${part.files.join(", ")}]_`;
    case "subtask":
      return quote(`Task: ${part.prompt}`);
    case "agent":
      return `_[agent: ${part.name}]_`;
    case "retry":
      return `_[retry ${part.attempt}]_`;
    case "opaque":
      return fence(JSON.stringify(part.raw.block, null, 2), "json");
    case "step_start":
    case "step_finish":
    case "snapshot":
      return "";
  }
}

/** Uses a fence longer than any run of backticks inside, so that content cannot close it. */
function fence(text: string, language = ""): string {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

function quote(text: string): string {
  return text.replace(/^/gm, "> ");
}

export function formatTime(time: number): string {
  return new Date(time)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, " UTC");
}
