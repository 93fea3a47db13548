import { Marked, type Tokens } from "marked";
import { escapeHtml } from "./escape-html.ts";

/** Other schemes may run code or open programs; a link with one is shown as text. */
const linkSchemes = /^(?:https?|mailto):/i;
/** Deeper nesting is no prose: it is shown as plain text, so that no input takes long or overflows the stack. */
const nestingMax = 40;
/** The parser takes quadratic time for spaces inside a line. */
const longGap = /[ \t]{1000}/;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    link(token: Tokens.Link) {
      const label = this.parser.parseInline(token.tokens);
      const host = findHost(token.href);
      if (host === undefined) return `${label} <span class="host">(${escapeHtml(token.href.slice(0, 200))})</span>`;
      const shown = token.text.includes(host) ? "" : ` <span class="host">(${escapeHtml(host)})</span>`;
      return `<a href="${escapeHtml(token.href)}" rel="noopener noreferrer" target="_blank">${label}</a>${shown}`;
    },
    // An image of another host would tell that host who reads what.
    image: ({ href, text }: Tokens.Image) =>
      `<span class="note">Image${text ? ` “${escapeHtml(text)}”` : ""} at ${escapeHtml(href.slice(0, 200))}, which is not fetched</span>`,
    code: ({ text, lang }: Tokens.Code) =>
      `<pre tabindex="0"><code class="language-${languageName(lang)}">${escapeHtml(text)}</code></pre>\n`,
    codespan: ({ text }: Tokens.Codespan) => `<code>${escapeHtml(text)}</code>`,
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? "☑ " : "☐ "),
  },
});

/** Markdown as HTML without anything that runs, loads or styles. */
export function renderMarkdown(text: string): string {
  if (isTooNested(text) || longGap.test(text)) return `<p class="plain">${escapeHtml(text)}</p>`;
  return marked.parse(text.toWellFormed(), { async: false });
}

function findHost(href: string): string | undefined {
  if (!linkSchemes.test(href)) return undefined;
  try {
    const url = new URL(href);
    return url.protocol === "mailto:" ? url.pathname : url.host;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function languageName(lang: string | undefined): string {
  return /^[\w+#-]{1,30}/.exec(lang ?? "")?.[0] ?? "text";
}

function isTooNested(text: string): boolean {
  const marks = new RegExp(`^[ \\t]*(?:[>*+-][ \\t]*){${nestingMax}}|[\\[(*_\`~]{${nestingMax * 5}}`, "m");
  return marks.test(text);
}
