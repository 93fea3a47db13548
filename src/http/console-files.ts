/** The built console: files with hashed names, compressed when they were built. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { packageFolder } from "../version.ts";

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Everything comes from this gateway; nothing inline runs or styles. */
export const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

interface StaticFile {
  type: string;
  body: Buffer<ArrayBuffer>;
  encoding?: "br" | "gzip";
}

export interface ConsoleFiles {
  /** The page; undefined when the console is not built. */
  page(): { html: string; etag: string } | undefined;
  /** A file of `assets/`, in the best form that the client accepts. */
  asset(name: string, accepts: string): StaticFile | undefined;
}

/** Reads each file once. A name that is not in the folder is not found, whatever it contains. */
export function openConsoleFiles(folder = join(packageFolder, "dist", "console")): ConsoleFiles {
  const assets = join(folder, "assets");
  const names = new Set(existsSync(assets) ? readdirSync(assets) : []);
  const cache = new Map<string, Buffer<ArrayBuffer>>();
  const read = (name: string): Buffer<ArrayBuffer> => {
    const known = cache.get(name) ?? readFileSync(join(assets, name));
    cache.set(name, known);
    return known;
  };
  let page: { html: string; etag: string } | undefined;
  return {
    page() {
      const file = join(folder, "index.html");
      if (page === undefined && existsSync(file)) {
        const html = readFileSync(file, "utf8");
        page = { html, etag: `"${createHash("sha256").update(html).digest("base64url").slice(0, 22)}"` };
      }
      return page;
    },
    asset(name, accepts) {
      const type = types[extname(name)];
      if (type === undefined || !names.has(name)) return undefined;
      if (/\bbr\b/.test(accepts) && names.has(`${name}.br`)) return { type, body: read(`${name}.br`), encoding: "br" };
      if (/\bgzip\b/.test(accepts) && names.has(`${name}.gz`))
        return { type, body: read(`${name}.gz`), encoding: "gzip" };
      return { type, body: read(name) };
    },
  };
}
