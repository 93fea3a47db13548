import type { SummaryNode } from "../../domain/index.ts";
import { escapeXml, timeWriter } from "../summary-text.ts";

/** The most sources that are listed; expanding the summary shows the others. */
const parentsMax = 24;

type ShownSummary = Pick<
  SummaryNode,
  "id" | "kind" | "depth" | "content" | "descendantCount" | "sourceMessageCount" | "earliestAt" | "latestAt"
>;

/**
 * A summary as the text of a user message. All content is escaped: it can neither close the tags nor open others. The same
 * summary always gives the same bytes.
 */
export function summaryXml(summary: ShownSummary, sources: readonly string[], timeZone?: string): string {
  const write = timeWriter(timeZone);
  const attributes = {
    id: summary.id,
    kind: summary.kind,
    depth: String(summary.depth),
    descendant_count: String(summary.descendantCount),
    message_count: String(summary.sourceMessageCount),
    from: write(summary.earliestAt),
    to: write(summary.latestAt),
    trust: "untrusted",
  };
  const head = Object.entries(attributes).map(([name, value]) => `${name}="${escapeXml(value)}"`);
  return [
    `<summary ${head.join(" ")}>`,
    parentsXml(sources),
    "<content>",
    escapeXml(summary.content),
    "</content>",
    "</summary>",
  ].join("\n");
}

function parentsXml(sources: readonly string[]): string {
  const shown = sources.slice(0, parentsMax).map((id) => `<parent id="${escapeXml(id)}"/>`);
  const more = sources.length > parentsMax ? ` more="${sources.length - parentsMax}"` : "";
  return `<parents${more}>${shown.join("")}</parents>`;
}
