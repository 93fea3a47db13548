/** Makes the citations in a text open: `msg#12`, `sum_…`, `mem_…`. */
const citation = /\b(?:msg#\d{1,15}|sum_[0-9a-f]{16}|mem_[0-9a-z]{19})\b/g;

export function citationHref(id: string): string {
  return `/cite?id=${encodeURIComponent(id)}`;
}

/** Replaces citations in text by links; code and links stay as they are. */
export function linkCitations(element: HTMLElement): void {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Text && !node.parentElement?.closest("a, pre, code, summary, button")) found.push(node);
  }
  for (const node of found) linkText(node);
}

function linkText(node: Text): void {
  const text = node.data;
  const matches = [...text.matchAll(citation)];
  if (matches.length === 0) return;
  const parts: (string | HTMLElement)[] = [];
  let end = 0;
  for (const match of matches) {
    const link = document.createElement("a");
    link.href = citationHref(match[0]);
    link.className = "citation-link";
    link.textContent = match[0];
    parts.push(text.slice(end, match.index), link);
    end = match.index + match[0].length;
  }
  node.replaceWith(...parts, text.slice(end));
}
