import type { FileEffect } from "./tool-kinds.ts";

/** The effects of a command line, as far as they can be read. */
export interface ShellEffects {
  files: FileEffect[];
  /** Tests, builds and other checks, normalised: `npm run check (packages/core)`. */
  checks: string[];
  /** Commits, installations, releases, branches. */
  events: string[];
  /** Whether the exit code is that of a filter such as `grep` or `tail`. */
  isFiltered: boolean;
  /** Whether it filters its output for errors: then no output means that there are none. */
  filtersErrors: boolean;
}

const checkPattern = new RegExp(
  [
    "^(?:npm|pnpm|yarn|bun)(?: run(?:-script)?)?(?: -\\S+)* (?:test|t|check|build|lint|typecheck|type-check|types|tsc|ci:|e2e|coverage|verify|validate|compile|unit|integration)\\S*",
    "^(?:npx |pnpm (?:exec |dlx )?|yarn |bunx |bun |node_modules/\\.bin/|uv run |poetry run |bundle exec )?(?:tsc|tsgo|vitest|jest|mocha|ava|eslint|biome (?:check|lint|ci)|prettier --check|playwright test|cypress run|pytest|tox|nox|ruff|mypy|pyright|flake8|pylint|rspec|rubocop|phpunit|phpstan|stylelint|svelte-check|vue-tsc|next build|vite build|webpack|rollup|turbo|nx (?:test|build|lint))\\b",
    "^(?:cargo (?:test|build|check|clippy|nextest|fmt --check)|go (?:test|build|vet)|golangci-lint|mvn|mvnw|gradle|make|cmake --build|ctest|ninja|bazel (?:test|build)|dotnet (?:test|build)|mix test|swift (?:test|build)|xcodebuild|flutter test|deno (?:test|check|lint)|rake|terraform (?:plan|validate)|docker (?:build|compose build)|python3? -m (?:pytest|unittest|mypy|compileall)|node --test|\\./gradlew|\\./mvnw|\\./(?:test|build|check|run_?tests?)\\S*|shellcheck|helm lint|sbt|stack test|cabal test)\\b",
  ].join("|"),
);
const installPattern =
  /^(?:(?:sudo )?(?:npm (?:i|install|add)|pnpm (?:i|install|add)|yarn add|bun add|pip3? install|uv (?:add|pip install)|poetry add|pipx install|cargo (?:add|install)|go (?:get|install)|apt(?:-get)? install|brew install|gem install|composer require|dnf install|apk add))\b(.*)$/;
const eventPattern =
  /^(?:git (?:push|tag|merge|rebase|revert|cherry-pick|reset --hard|checkout -b|switch -c|branch -[dD])|gh (?:pr|release|issue) \w+|(?:npm|pnpm|yarn|bun)(?: run)? (?:publish|deploy|release|migrate)\S*|docker (?:push|compose up)|kubectl (?:apply|delete|rollout)|helm (?:install|upgrade)|terraform (?:apply|destroy)|vercel|netlify deploy|fly deploy|systemctl (?:start|stop|restart|enable|disable)|alembic|prisma migrate|createdb|dropdb|crontab|chmod|chown|ln -s)\b/;
const scratch = /^(?:\/dev\/|&|\/proc\/)/;

/** Reads the effects of a command line. It is not a shell: expansions stay as they are written. */
export function readShell(command: string, folder?: string): ShellEffects {
  const effects: ShellEffects = { files: [], checks: [], events: [], isFiltered: false, filtersErrors: false };
  let place = folder ?? "";
  for (const { text, isPiped } of splitCommands(withoutHeredocs(command))) {
    const words = splitWords(text);
    while (
      /^[A-Z_][A-Z0-9_]*=/.test(words[0] ?? "") ||
      ["sudo", "time", "env", "nohup", "exec"].includes(words[0] ?? "")
    ) {
      words.shift();
    }
    const [name = "", ...rest] = words;
    if (name === "cd") {
      place = joinPath(place, rest[0] ?? "");
      continue;
    }
    if (name === "timeout") words.splice(0, /^\d/.test(rest[0] ?? "") ? 2 : 1);
    const line = withoutRedirects(words).join(" ");
    if (isPiped) {
      effects.isFiltered = true;
      if (/^(?:e?grep|rg)\b.*(?:error|fail)/i.test(line)) effects.filtersErrors = true;
    } else if (checkPattern.test(line)) effects.checks.push(place === "" ? line : `${line} (${place})`);
    readFileEffects(words, place, effects.files);
    readEvent(words, line, effects.events);
  }
  return effects;
}

const heredoc = /(?<!<)<<-?\s*(['"]?)([A-Za-z_]\w*)\1/;

/** The body of a heredoc is content, not commands. */
function withoutHeredocs(command: string): string {
  const kept: string[] = [];
  let end: string | undefined;
  for (const line of command.split("\n")) {
    if (end !== undefined) {
      if (line.trim() === end) end = undefined;
      continue;
    }
    end = heredoc.exec(line)?.[2];
    kept.push(end === undefined ? line : line.replace(heredoc, ""));
  }
  return kept.join("\n");
}

interface Segment {
  text: string;
  /** Whether its input is the output of the command before it. */
  isPiped: boolean;
}

const segmentsMax = 200;

/** Splits at `&&`, `||`, `;`, `|`, `&` and line ends outside of quotes. */
function splitCommands(command: string): Segment[] {
  const segments: Segment[] = [];
  let text = "";
  let quote = "";
  let isPiped = false;
  const end = (piped: boolean) => {
    if (text.trim() !== "" && segments.length < segmentsMax) segments.push({ text: text.trim(), isPiped });
    text = "";
    isPiped = piped;
  };
  for (let index = 0; index < command.length; index += 1) {
    const mark = command[index] ?? "";
    const next = command[index + 1] ?? "";
    if (mark === "\\" && quote !== "'") {
      text += mark === "\\" && next === "\n" ? " " : mark + next;
      index += 1;
    } else if (quote !== "") {
      text += mark;
      if (mark === quote) quote = "";
    } else if (mark === '"' || mark === "'") {
      quote = mark;
      text += mark;
    } else if ((mark === "&" && next === "&") || (mark === "|" && next === "|")) {
      end(false);
      index += 1;
    } else if (mark === "|") end(true);
    else if (mark === ";" || mark === "\n") end(false);
    else if (mark === "&" && command[index - 1] !== ">" && next !== ">") end(false);
    else text += mark;
  }
  end(false);
  return segments;
}

const word = /"((?:[^"\\]|\\.)*)"|'([^']*)'|((?:\\.|[^\s"'\\])+)/g;

/** Splits a command into words; quotes are removed. */
function splitWords(text: string): string[] {
  const words: string[] = [];
  let end = -1;
  for (const found of text.matchAll(word)) {
    const piece = found[1] ?? found[2] ?? (found[3] ?? "").replace(/\\(.)/g, "$1");
    if (found.index === end && words.length > 0) words.push(`${words.pop() ?? ""}${piece}`);
    else words.push(piece);
    end = found.index + found[0].length;
  }
  return words;
}

const redirect = /^(?:\d|&)?>{1,2}(?:&\d)?/;

function withoutRedirects(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const found = redirect.exec(words[index] ?? "");
    if (found === null) kept.push(words[index] ?? "");
    else if (found[0] === words[index] && !/&\d$/.test(found[0])) index += 1;
  }
  return kept;
}

function readFileEffects(words: readonly string[], place: string, files: FileEffect[]): void {
  const [name = "", ...rest] = words;
  const note = (path: string, operation: FileEffect["operation"], target?: string) => {
    if (path === "" || scratch.test(path)) return;
    const moved = target === undefined ? {} : { target: joinPath(place, target) };
    // The folder where the line began has no name.
    files.push({ path: joinPath(place, path) || ".", operation, ...moved });
  };
  for (const [index, one] of words.entries()) {
    const found = /^&?(>{1,2})(?!&)(.*)$/.exec(one);
    const path = found === null ? "" : found[2] || (words[index + 1] ?? "");
    if (found !== null) note(path, found[1] === ">>" ? "edited" : "created");
  }
  const isGit = name === "git";
  const verb = isGit ? (rest[0] ?? "") : name;
  const paths = withoutRedirects(isGit ? rest.slice(1) : rest).filter((one) => !one.startsWith("-"));
  if (verb === "rm") for (const path of paths) note(path, "deleted");
  else if (verb === "mv" && paths.length === 2) note(paths[0] ?? "", "moved", paths[1]);
  else if (verb === "cp" && paths.length === 2) note(paths[1] ?? "", "created");
  else if (verb === "touch") for (const path of paths) note(path, "created");
  else if (verb === "tee") for (const path of paths) note(path, rest.includes("-a") ? "edited" : "created");
  else if (
    (verb === "sed" && rest.some((one) => /^-[a-zA-Z]*i/.test(one))) ||
    (verb === "perl" && rest.some((one) => /^-\w*i/.test(one)))
  ) {
    // The first word without a dash is the program, unless programs were given with -e.
    const programs = new Set(rest.filter((_, index) => rest[index - 1] === "-e"));
    const others = paths.filter((one) => one !== "" && !programs.has(one));
    for (const path of others.slice(programs.size > 0 ? 0 : 1)) {
      if (/^[\w@.~/+-]+$/.test(path) && /[./]/.test(path)) note(path, "edited");
    }
  }
}

const messageLength = 120;

function readEvent(words: readonly string[], line: string, events: string[]): void {
  if (/^git commit\b/.test(line)) {
    const at = words.findIndex((one) => /^-\w*m$|^--message$/.test(one));
    const joined = words.find((one) => one.startsWith("--message="))?.slice("--message=".length);
    const message = (at === -1 ? joined : words[at + 1])?.split("\n")[0]?.trim();
    const isHeredoc = message?.startsWith("$(");
    events.push(message && !isHeredoc ? `committed "${message.slice(0, messageLength)}"` : "committed");
    return;
  }
  const install = installPattern.exec(line);
  if (install !== null) {
    const names = (install[1] ?? "").split(" ").filter((one) => one !== "" && !one.startsWith("-") && one !== ".");
    events.push(names.length === 0 ? line : `installed ${names.slice(0, 12).join(" ")}`);
    return;
  }
  if (eventPattern.test(line)) events.push(line.slice(0, messageLength));
}

function joinPath(folder: string, path: string): string {
  if (folder === "" || /^[/~$]|^[A-Za-z]:/.test(path)) return path;
  if (path === "" || path === ".") return folder;
  const parts = folder.split("/");
  for (const part of path.split("/")) {
    const last = parts.at(-1);
    if (part === ".." && (last === undefined || last === "..")) parts.push("..");
    else if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}
