/** The page at `/`, until the console takes its place. It loads nothing from anywhere. */
import { createHash } from "node:crypto";

const style = `
:root { color-scheme: light dark; --line: #8884; --muted: #666; }
@media (prefers-color-scheme: dark) { :root { --muted: #aaa; } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } p.note { color: var(--muted); }
dl { display: grid; grid-template-columns: auto 1fr; gap: .3rem 1rem; border-top: 1px solid var(--line); padding-top: 1rem; }
dt { color: var(--muted); } dd { margin: 0; font-variant-numeric: tabular-nums; }
code { background: #8882; padding: .1rem .3rem; border-radius: .3rem; }
`;

const styleHash = createHash("sha256").update(style).digest("base64");
export const pagePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** The texts are the gateway's own; only the numbers' values come from elsewhere. */
function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${style}</style></head><body><main>
${body}
</main></body></html>
`;
}

const whatItIs = `<h1>Varve</h1>
<p>A memory that loses nothing, for any LLM agent. This is its gateway.</p>`;

export function welcomePage(numbers: Record<string, string | number>): string {
  const rows = Object.entries(numbers).map(
    ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(shown(value))}</dd>`,
  );
  return page(
    "Varve",
    `${whatItIs}
<dl>${rows.join("\n")}</dl>
<p>The API is under <code>/api</code>; <a href="/api/openapi.json">/api/openapi.json</a> describes it.</p>`,
  );
}

export function strangerPage(): string {
  return page(
    "Varve",
    `${whatItIs}
<p>You are not logged in. <code>varve start</code> prints a link that logs this browser in; it works once, for a minute.</p>
<p class="note">Programs send the token as <code>Authorization: Bearer …</code>; the API is described at <code>/api/openapi.json</code>.</p>`,
  );
}

export function badLinkPage(): string {
  return page(
    "Varve: the link does not work",
    `<h1>This link does not work any more</h1>
<p>A login link works once, for a minute. Start the gateway again with <code>varve start</code> for a new one.</p>`,
  );
}

function shown(value: string | number): string {
  return typeof value === "number" ? value.toLocaleString("en") : value;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
