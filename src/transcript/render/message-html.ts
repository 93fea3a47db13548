/**
 * The one renderer of messages as HTML, for the console and the HTML export. It imports nothing of Node, because the
 * console runs it in a browser. Everything in a message is hostile: text is escaped, HTML in Markdown is shown as text,
 * links show their host, and images of other hosts are named, not fetched.
 */
import { type Entry, getParts, type Message, type Part } from "../../domain/index.ts";
import { escapeHtml } from "./escape-html.ts";
import { renderMarkdown } from "./markdown-html.ts";

/** Longer inputs and outputs are cut in the page; the whole text is in the log. */
const shownCharsMax = 20_000;
const imageTypes = /^image\/(?:png|jpeg|gif|webp)$/;

/** The body of a message. */
export function renderMessage(message: Pick<Message, "content">): string {
  return getParts(message).map(renderPart).filter(Boolean).join("\n");
}

/** An entry that is not a message, in one line or paragraph; empty for state that people need not see. */
export function renderEvent(entry: Entry): string {
  switch (entry.type) {
    case "message":
    case "custom_message":
      return renderMessage(entry.message);
    case "compaction":
    case "branch_summary":
      return `<details class="part summary-part"><summary>Summary of what came before</summary>${prose(entry.summary)}</details>`;
    case "reset":
      return `<p class="note">${entry.mode === "new" ? "A new session began" : "The conversation was reset"} (${escapeHtml(entry.reason)})</p>`;
    case "model_change":
      return `<p class="note">Model: ${escapeHtml([entry.provider, entry.model].filter(Boolean).join("/"))}</p>`;
    case "session":
    case "custom":
    case "label":
      return "";
  }
}

function renderPart(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? "" : renderText(part.text);
    case "reasoning":
      return part.text === "" ? "" : fold("thinking", `Thinking${sizeNote(part.text)}`, prose(part.text));
    case "tool_call": {
      const input = part.inputText ?? JSON.stringify(part.input, null, 2) ?? "";
      return fold("call", `Calls <code>${escapeHtml(part.name)}</code>${sizeNote(input)}`, pre(input, "json"));
    }
    case "tool_result": {
      const label = `${part.isError ? "Error" : "Result"}${part.name ? ` of <code>${escapeHtml(part.name)}</code>` : ""}`;
      const output =
        typeof part.output === "string" ? renderOutput(part.output) : part.output.map(renderPart).join("\n");
      const size = typeof part.output === "string" ? sizeNote(part.output) : "";
      return fold(part.isError ? "result failed" : "result", label + size, output);
    }
    case "image":
      return renderImage(part);
    case "file":
      return `<p class="note">File: ${escapeHtml(part.name ?? part.mediaType ?? "without a name")}</p>`;
    case "compaction":
      return part.summary === undefined ? "" : prose(part.summary);
    case "patch":
      return `<p class="note">Changed: ${escapeHtml(part.files.join(", "))}</p>`;
    case "subtask":
      return fold("call", `Task${part.agent ? ` for <code>${escapeHtml(part.agent)}</code>` : ""}`, prose(part.prompt));
    case "agent":
      return `<p class="note">Agent: ${escapeHtml(part.name)}</p>`;
    case "opaque":
      return fold("opaque", "Block of the provider", pre(JSON.stringify(part.raw.block, null, 2) ?? "", "json"));
    case "step_start":
    case "step_finish":
    case "snapshot":
    case "retry":
      return "";
  }
}

/** Large content stands in a message as a reference: `[file_… …]` and a description. */
const fileReference = /\bfile_[0-9a-f]{16}\b/;

function renderText(text: string): string {
  return fileReference.test(text) ? renderOutput(text) : prose(text);
}

function renderOutput(text: string): string {
  const id = fileReference.exec(text)?.[0];
  if (id === undefined) return pre(text);
  return `<div class="large" data-file="${id}">${pre(text)}</div>`;
}

function prose(text: string): string {
  const { shown, note } = cut(text);
  return `<div class="prose">${renderMarkdown(shown)}</div>${note}`;
}

function pre(text: string, language = ""): string {
  const { shown, note } = cut(text);
  return `<pre tabindex="0"><code class="language-${language || "text"}">${escapeHtml(shown)}</code></pre>${note}`;
}

function cut(text: string): { shown: string; note: string } {
  if (text.length <= shownCharsMax) return { shown: text, note: "" };
  const left = (text.length - shownCharsMax).toLocaleString("en");
  return { shown: text.slice(0, shownCharsMax), note: `<p class="note">${left} more characters are in the log.</p>` };
}

function fold(kind: string, summary: string, body: string): string {
  return `<details class="part ${kind}"><summary>${summary}</summary>${body}</details>`;
}

function sizeNote(text: string): string {
  return `<span class="size">${text.length.toLocaleString("en")} characters</span>`;
}

function renderImage({ source, mediaType }: Extract<Part, { type: "image" }>): string {
  if (source.kind === "base64" && imageTypes.test(mediaType ?? "") && /^[A-Za-z0-9+/=\s]+$/.test(source.data)) {
    return `<img class="image" alt="Image in the message" src="data:${mediaType};base64,${source.data.replace(/\s/g, "")}">`;
  }
  const where = source.kind === "url" ? ` at ${escapeHtml(source.url.slice(0, 300))}, which is not fetched` : "";
  return `<p class="note">Image${where}</p>`;
}
