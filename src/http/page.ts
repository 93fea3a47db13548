/** The pages at `/` and `/auth`. They load nothing from other servers. */
import { createHash } from "node:crypto";

const style = `
:root { color-scheme: light dark; --line: #8884; --muted: #666; }
@media (prefers-color-scheme: dark) { :root { --muted: #aaa; } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } p.note { color: var(--muted); }
form { border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); padding: 1rem 0; }
input, button { font: inherit; padding: .4rem .6rem; } input { width: 20rem; max-width: 100%; } .fault { color: light-dark(#a3261f, #ff9b92); }
code { background: #8882; padding: .1rem .3rem; border-radius: .3rem; }
`;

const styleHash = createHash("sha256").update(style).digest("base64");
export const pagePolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;

/** `title` and `body` are trusted HTML. */
function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${style}</style></head><body><main>
${body}
</main></body></html>
`;
}

const intro = `<h1>Varve</h1>
<p>Lossless memory for any LLM agent. This is its gateway.</p>`;

export function loginPage(fault?: string): string {
  return page(
    "Varve",
    `${intro}
<p>You are not logged in. <code>varve start</code> prints a link that logs this browser in. It works once, within a minute.</p>
<form method="post" action="/auth">
<label for="token">Or log in with an access token</label>
<p><input id="token" name="token" type="password" autocomplete="off" required> <button>Log in</button></p>
${fault === undefined ? "" : `<p class="fault" role="alert">${fault}</p>`}
</form>
<p class="note">Programs send an access token as <code>Authorization: Bearer …</code>. The HTTP API is described in <code>/api/openapi.json</code>.</p>`,
  );
}

export function notBuiltPage(): string {
  return page(
    "Varve",
    `${intro}
<p>The console is not built here. Run <code>npm run build</code> in the folder of Varve and start the gateway again.</p>`,
  );
}

export function badLinkPage(): string {
  return page(
    "Varve: invalid login link",
    `<h1>This login link is no longer valid</h1>
<p>A login link works once, within a minute. Start the gateway again with <code>varve start</code> to get a new one.</p>`,
  );
}
