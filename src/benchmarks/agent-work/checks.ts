import { parseShell, type ShellCommand } from "./shell.ts";
import type { CallStep, Step } from "./steps.ts";

export type CheckKind = "test" | "build" | "lint" | "types" | "check";
export type Outcome = "pass" | "fail";

export interface CheckItem {
  kind: CheckKind;
  /** The command without folder changes, redirections and filters. */
  command: string;
  outcome: Outcome;
  callId: string;
  /** The whole command line of the call. */
  line: string;
}

/** Every run of a check, in order. */
function findCheckRuns(steps: readonly Step[]): CheckItem[] {
  return steps.flatMap((step) => (step.kind === "call" ? readCheckRuns(step) : []));
}

/** Each distinct check with its last outcome. */
export function findCommands(steps: readonly Step[]): CheckItem[] {
  return [...new Map(findCheckRuns(steps).map((run) => [run.command, run])).values()];
}

/** The last run of each kind of check. */
export function findLastChecks(steps: readonly Step[]): CheckItem[] {
  return [...new Map(findCheckRuns(steps).map((run) => [run.kind, run])).values()];
}

export function readCheckRuns(call: CallStep): CheckItem[] {
  if (call.command === undefined || !call.finished) return [];
  const commands = parseShell(call.command);
  const checks = commands.flatMap((command) => {
    const kind = findCheckKind(dropLaunchers(command.words));
    return kind === undefined ? [] : [{ command, kind }];
  });
  const outcome = checks.length === 0 ? undefined : judgeOutcome(call, commands);
  if (outcome === undefined) return [];
  // In a chain, the checks before the one that failed have passed and those after it have not run.
  const failedAt = outcome === "pass" ? checks.length : findFailed(checks, call.output);
  return checks.slice(0, failedAt + 1).map(({ command, kind }, at) => ({
    kind,
    command: command.words.join(" "),
    outcome: at === failedAt ? "fail" : "pass",
    callId: call.callId,
    line: call.command ?? "",
  }));
}

function findFailed(checks: readonly { command: ShellCommand }[], output: string): number {
  const named = checks.findLastIndex(({ command }) => {
    const core = dropLaunchers(command.words).filter((word) => !/^(?:run|npm|pnpm|yarn|make)$/.test(word));
    return core.some((word) => word.length > 2 && output.includes(word));
  });
  return Math.max(0, named);
}

const launcher = /^(?:sudo|time|npx|bunx|uvx|env|command|\w+=.*|--yes|-y|--silent|-s)$/;
const launcherPairs =
  /^(?:(?:pnpm|npm) exec|(?:uv|poetry|pipenv|hatch|rye|pdm) run|bundle exec|yarn dlx|pnpm dlx|python3? -m|timeout \d+\w?)$/;

/** The words of a command without the programs that only start another one. */
export function dropLaunchers(words: readonly string[]): string[] {
  let rest = [...words];
  for (;;) {
    if (launcher.test(rest[0] ?? "")) rest = rest.slice(1);
    else if (launcherPairs.test(`${rest[0]} ${rest[1]}`)) rest = rest.slice(2);
    else return rest;
  }
}

const programs: readonly [RegExp, CheckKind][] = [
  [/^(?:vitest|jest|mocha|ava|pytest|py\.test|tox|nox|rspec|phpunit|ctest|unittest|nextest|bats)\b/, "test"],
  [
    /^(?:cargo (?:test|nextest)|go test|dotnet test|swift test|deno test|bun test|mix test|node --test|playwright test|cypress run|rails test|bazel test|rake (?:test|spec)|zig build test|flutter test)\b/,
    "test",
  ],
  [
    /^(?:tsc|tsgo|mypy|pyright|basedpyright|vue-tsc|flow|svelte-check|sorbet|srb)\b|^(?:deno check|cargo check|go vet)\b/,
    "types",
  ],
  [
    /^(?:eslint|biome (?:check|lint|ci)|ruff(?! format(?! --check))|flake8|pylint|rubocop|golangci-lint|shellcheck|stylelint|markdownlint\S*|hadolint|yamllint|ansible-lint|actionlint|vale|ktlint|swiftlint|clippy|sqlfluff lint)\b/,
    "lint",
  ],
  [
    /^(?:cargo clippy|helm lint|terraform (?:validate|fmt -check)|prettier (?:.*)?(?:--check|-c)|black --check|cargo fmt --check|dbt parse|deno lint|next lint)\b/,
    "lint",
  ],
  [
    /^(?:cargo build|go build|dotnet build|swift build|docker (?:buildx )?build|docker compose build|docker-compose build|cmake --build|bazel build|mkdocs build|sphinx-build|hugo|vite build|next build|webpack|rollup|esbuild|tsup|astro build|docusaurus build|mdbook build|zig build|ninja|xcodebuild|flutter build|dbt (?:build|compile)|packer build|nix build)\b/,
    "build",
  ],
  // Most programs name these steps alike.
  [/^[\w./-]+ (?:tests?|check-tests)\b/, "test"],
  [/^[\w./-]+ lint\b/, "lint"],
  [/^[\w./-]+ build\b/, "build"],
];

/** The kind of check that a command runs; undefined for anything else. */
function findCheckKind(words: readonly string[]): CheckKind | undefined {
  const text = words.join(" ");
  if (/(?:^|\s)(?:--version|--help|-h|install|--watch|serve|dev)(?:\s|$)/.test(text) && !/^make\b/.test(text))
    return undefined;
  const script =
    /^(?:npm|pnpm|yarn|bun|deno task|just|task)\s+(?:(?:-\S+|--\S+)(?:\s|=)(?:\S+\s+)?)*(?:run(?:-script)?\s+)?([\w:.-]+)/.exec(
      text,
    )?.[1];
  const isScript = script !== undefined && /^(?:npm|pnpm|yarn|bun|deno task|just|task)\b/.test(text);
  if (isScript) return findScriptKind(script) ?? programs.find(([pattern]) => pattern.test(text))?.[1];
  if (/^(?:make|(?:.*\/)?(?:gradlew?|mvnw?))$/.test(words[0] ?? "")) {
    return findScriptKind(words.slice(1).findLast((word) => !/^-|=/.test(word)) ?? "build");
  }
  return programs.find(([pattern]) => pattern.test(text))?.[1];
}

/** The kind of a script or a make target, by its name. */
function findScriptKind(name: string): CheckKind | undefined {
  if (/^(?:install|i|ci|add|start|dev|serve|preview|exec|publish|version|clean|watch)$/.test(name)) return undefined;
  if (/type-?s?(?:check)?$|^tsc|typecheck/i.test(name)) return "types";
  if (/lint|(?:^|:)(?:format|fmt)(?::|-)check|prettier/.test(name)) return "lint";
  if (/test|spec(?!t|ell)|e2e|^t$|coverage/i.test(name)) return "test";
  if (/build|compile|bundle|assemble|package|^all$|^dist$|^docs$|html$/i.test(name)) return "build";
  return /check|verify|validate/.test(name) ? "check" : undefined;
}

/** How a finished call with checks ended; undefined when its output does not say. */
function judgeOutcome(
  call: Pick<CallStep, "failed" | "output">,
  commands: readonly ShellCommand[],
): Outcome | undefined {
  const output = call.output.replace(/^\(no output\)\s*$/i, "");
  const isFiltered = commands.some((one) => one.filters.length > 0 || one.guarded);
  if (!isFiltered && call.failed !== undefined) return call.failed ? "fail" : "pass";
  const isErrorFilter = commands.some((one) =>
    one.filters.some(
      ([name, ...rest]) => /^(?:grep|rg|egrep)$/.test(name ?? "") && /error|fail|warn/i.test(rest.join(" ")),
    ),
  );
  const text = output.replace(/^Command exited with code \d+\s*$/im, "").trim();
  // A filter that looks for errors and shows nothing: there were none.
  if (isErrorFilter && (text === "" || /^0$/.test(text))) return "pass";
  if (isErrorFilter && /^[1-9]\d*$/.test(text)) return "fail";
  if (hasFailure(text)) return "fail";
  if (text === "" && call.failed === true) return undefined;
  return call.failed === true && !hasSuccess(text) ? "fail" : "pass";
}

const failurePatterns = [
  /\bnpm (?:ERR!|error)|\bELIFECYCLE\b|\berror Command failed|ERR_PNPM/,
  /\berror TS\d+|: error(?:\[\w+\])?:|^error(?:\[\w+\])?:/m,
  /\b[1-9]\d* (?:failed|failing|errors?\b|failures?\b|problems? \()/i,
  /^\s*(?:FAIL\b|FAILED\b|--- FAIL|not ok \d)|\bBUILD FAIL(?:ED|URE)\b|test result: FAILED|\bFAILED \(/m,
  /^Traceback \(most recent|^make(?:\[\d+\])?: \*\*\*|^panic:|could not compile|^\s*[✗✘✖×] /m,
  /\bfatal error\b|\bERROR: failed to|Segmentation fault|exited? (?:with )?(?:code|status) [1-9]/i,
  /Error: Process completed with exit code [1-9]|Compilation failed|Failed to compile/,
];

function hasFailure(text: string): boolean {
  return failurePatterns.some((pattern) => pattern.test(text));
}

function hasSuccess(text: string): boolean {
  return /\b(?:passed|success(?:ful(?:ly)?)?|0 errors|no (?:errors|issues|problems))\b|✓|✔/i.test(text);
}
