/** The endings and names by which a word is recognised as a file. */
const fileEnding =
  /\.(?:[cm]?[jt]sx?|json[c5l]?|jsonl|md|mdx|txt|rst|adoc|ya?ml|toml|ini|cfg|conf|env|lock|py|pyi|ipynb|rb|go|rs|java|kts?|scala|swift|c|h|cc|cpp|hpp|cs|fs|php|pl|lua|r|jl|ex|exs|erl|hs|ml|clj|dart|vue|svelte|astro|css|s[ac]ss|less|html?|xml|svg|png|jpe?g|gif|webp|ico|pdf|csv|tsv|parquet|sql|db|sqlite|sh|bash|zsh|fish|ps1|bat|tf|tfvars|hcl|proto|graphql|gradle|properties|plist|service|log|patch|diff|tmpl|tpl|j2|hbs|ejs|bak|example|sample|snap|wasm|zip|tar|gz|pem|crt|key|template|mod|sum|dockerfile|local)$/i;
const fileName =
  /^(?:Makefile|Dockerfile|Containerfile|Jenkinsfile|Procfile|Gemfile|Rakefile|Vagrantfile|Justfile|LICENSE|README|CHANGELOG|CODEOWNERS|\.[a-z][\w.-]*(?:rc|ignore|config|env|attributes|version|hooks?)|\.env(?:\.\w+)?|go\.(?:mod|sum))$/;

/** Whether the last part of a path names a file, not a folder. */
export function isFilePath(path: string): boolean {
  const name = getFileName(path);
  if (/[*?$`<>|"{}\n]/.test(path) || path.startsWith("/dev/") || name === "") return false;
  return fileEnding.test(name) || fileName.test(name);
}

export function getFileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

export function cleanPath(path: string): string {
  return path
    .replace(/\\/g, "/")
    .replace(/^\.\//, "")
    .replace(/\/\.\//g, "/");
}

/** Whether two paths name the same file: one may be relative to a folder that the other states. */
export function isSameFile(a: string, b: string): boolean {
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);
}
