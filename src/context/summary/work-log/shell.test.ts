import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readShell } from "./shell.ts";

const filesOf = (command: string, folder?: string) =>
  readShell(command, folder).files.map(({ path, operation, target }) =>
    target === undefined ? `${operation} ${path}` : `${operation} ${path} to ${target}`,
  );

describe("the files of a command line", () => {
  it.each([
    ["rm -rf build/out.js old.txt", ["deleted build/out.js", "deleted old.txt"]],
    ["git rm --cached secrets.env", ["deleted secrets.env"]],
    ["mv a.ts b.ts", ["moved a.ts to b.ts"]],
    ["git mv src/a.ts src/b.ts", ["moved src/a.ts to src/b.ts"]],
    ["cp -r config.sample config.json", ["created config.json"]],
    ["touch notes.md", ["created notes.md"]],
    ["echo hello > out.txt", ["created out.txt"]],
    ["echo hello >>out.txt", ["edited out.txt"]],
    ["node gen.js &> all.log", ["created all.log"]],
    ["date | tee stamp.txt", ["created stamp.txt"]],
    ["date | tee -a stamp.txt", ["edited stamp.txt"]],
    ["sed -i 's/red/blue/g' src/theme.css", ["edited src/theme.css"]],
    ["sed -i '' 's/red/blue/g' src/theme.css", ["edited src/theme.css"]],
    ["sed -i -e 's/red/blue/' -e 's/one/two/' src/theme.css", ["edited src/theme.css"]],
    ["perl -pi -e 's/red/blue/' src/theme.css", ["edited src/theme.css"]],
    ["sed -n '1,5p' src/theme.css", []],
    ["npm test 2>&1 > /dev/null", []],
    ["ls 2>/dev/null; cat a.txt 2> err.log", []],
    ["grep -n 'a > b' notes.md", []],
  ])("%s", (command, files) => {
    expect(filesOf(command)).toEqual(files);
  });

  it("are in the folder that the command line is in at that point", () => {
    expect(filesOf("cd web && rm a.ts && cd ../api && rm b.ts", "/srv")).toEqual([
      "deleted /srv/web/a.ts",
      "deleted /srv/api/b.ts",
    ]);
    expect(filesOf("cd web; mv a.ts ./lib/a.ts")).toEqual(["moved web/a.ts to web/lib/a.ts"]);
    expect(filesOf("cd web && rm /tmp/x.log ~/y.log")).toEqual(["deleted /tmp/x.log", "deleted ~/y.log"]);
  });

  it("keep names with spaces, and joined and escaped quotes", () => {
    expect(filesOf(`rm "my file.txt" 'your file.txt' his\\ file.txt`)).toEqual([
      "deleted my file.txt",
      "deleted your file.txt",
      "deleted his file.txt",
    ]);
    expect(filesOf(`touch "src/"'a'.ts`)).toEqual(["created src/a.ts"]);
    expect(filesOf(`echo "rm x.ts; rm y.ts" && rm z.ts`)).toEqual(["deleted z.ts"]);
  });

  it("are not looked for in the body of a heredoc", () => {
    const script = "cat > run.sh <<'EOF'\nrm important.txt\nnpm test\nEOF\nchmod +x run.sh";
    expect(readShell(script)).toMatchObject({
      files: [{ path: "run.sh", operation: "created" }],
      checks: [],
      events: ["chmod +x run.sh"],
    });
    expect(filesOf("cat <<-END >> notes.md\n\trm a\n\tEND\nrm b.txt")).toEqual(["edited notes.md", "deleted b.txt"]);
  });

  it("after an empty heredoc and after a here-string are found", () => {
    expect(filesOf("cat <<EOF > empty.txt\nEOF\nrm b.txt")).toEqual(["created empty.txt", "deleted b.txt"]);
    expect(filesOf('wc -w <<< "two words"\nrm b.txt')).toEqual(["deleted b.txt"]);
    expect(filesOf("wc -w <<< word\nrm b.txt")).toEqual(["deleted b.txt"]);
  });
});

describe("checks", () => {
  it.each([
    "npm test",
    "npm run test:unit",
    "npm run typecheck",
    "pnpm -r build",
    "yarn lint",
    "bun test",
    "npx vitest run src/tide.test.ts",
    "npx tsc --noEmit",
    "npx eslint .",
    "npx biome check src",
    "npx playwright test",
    "pytest -q tests/test_tide.py",
    "python -m pytest",
    "python3 -m unittest",
    "uv run pytest",
    "ruff check .",
    "mypy src",
    "cargo test --all",
    "cargo clippy",
    "go test ./...",
    "go vet ./...",
    "mvn -q verify",
    "./gradlew test",
    "make",
    "make check",
    "ctest",
    "dotnet test",
    "mix test",
    "swift build",
    "bundle exec rspec",
    "phpunit tests",
    "terraform validate",
    "deno test",
    "node --test",
    "shellcheck run.sh",
  ])("%s is one", (command) => {
    expect(readShell(command).checks).toEqual([command]);
  });

  it.each([
    "npm start",
    "node server.js",
    "cat test.log",
    "git commit -m test",
    "echo npm test",
    "ls build",
    "go run .",
  ])("%s is none", (command) => {
    expect(readShell(command).checks).toEqual([]);
  });

  it("are named without folder changes, variables, time limits and redirects, and with their folder", () => {
    expect(readShell("cd packages/core && CI=1 timeout 60 npm test 2>&1 | tail -20")).toMatchObject({
      checks: ["npm test (packages/core)"],
      isFiltered: true,
      filtersErrors: false,
    });
    expect(readShell("npm run lint > lint.log 2>&1; npm test").checks).toEqual(["npm run lint", "npm test"]);
    expect(readShell("npx tsc --noEmit 2>&1 | grep -i error | wc -l")).toMatchObject({
      checks: ["npx tsc --noEmit"],
      isFiltered: true,
      filtersErrors: true,
    });
    expect(readShell("npm test || echo failed").isFiltered).toBe(false);
  });
});

describe("events", () => {
  it.each([
    ['git commit -m "tides: count from noon"', ['committed "tides: count from noon"']],
    ["git commit -am 'tides: count'", ['committed "tides: count"']],
    ["git commit --message='tides: count'", ['committed "tides: count"']],
    ['git add -A && git commit -m "first line\n\nbody" && git push', ['committed "first line"', "git push"]],
    ["git commit -m \"$(cat <<'EOF'\ntides: count\n\nbody\nEOF\n)\"", ["committed"]],
    ["git commit --amend --no-edit", ["committed"]],
    ["npm install --save-dev vitest fast-check", ["installed vitest fast-check"]],
    ["npm install", ["npm install"]],
    ["pnpm add zod", ["installed zod"]],
    ["yarn add zod", ["installed zod"]],
    ["pip install -q requests==2.31", ["installed requests==2.31"]],
    ["uv add httpx", ["installed httpx"]],
    ["cargo add serde", ["installed serde"]],
    ["go get example.org/tide", ["installed example.org/tide"]],
    ["sudo apt-get install -y jq", ["installed jq"]],
    ["brew install jq", ["installed jq"]],
    ["gem install rails", ["installed rails"]],
    ["git checkout -b tides", ["git checkout -b tides"]],
    ["git status && git log", []],
    ["kubectl apply -f tide.yaml", ["kubectl apply -f tide.yaml"]],
  ])("%s", (command, events) => {
    expect(readShell(command).events).toEqual(events);
  });
});

describe("hostile command lines", () => {
  it("name a folder above the one where they began", () => {
    expect(readShell("cd .. && sed -i cd ..").files).toEqual([{ path: "../..", operation: "edited" }]);
    expect(readShell("cd a && sed -i cd ..").files).toEqual([{ path: ".", operation: "edited" }]);
  });

  const timeOf = (command: string): number => {
    const start = performance.now();
    readShell(command);
    return performance.now() - start;
  };

  it.each([
    ["an unclosed double quote", `echo "${"a ".repeat(50_000)}`],
    ["an unclosed single quote", `echo '${"a ".repeat(50_000)}`],
    ["a quoted text of two megabytes", `git commit -m "${"word ".repeat(400_000)}"`],
    ["escapes", '\\"'.repeat(50_000)],
    ["unclosed quotes with escapes", `"${"\\x".repeat(50_000)}`],
    ["line ends", "\n".repeat(100_000)],
    ["a heredoc of empty lines", `cat <<EOF\n${"\n".repeat(100_000)}x`],
    ["a heredoc of spaces", `cat <<EOF\n${" ".repeat(100_000)}x`],
    ["heredocs without end", "cat <<A\n".repeat(12_000)],
    ["heredocs with many names", Array.from({ length: 10_000 }, (_, index) => `cat <<A${index}\n`).join("")],
    ["segments", "npm test && ".repeat(10_000)],
    ["pipes", "cat |".repeat(20_000)],
    ["redirects", "> a ".repeat(25_000)],
    ["options", `npm ${"-a ".repeat(30_000)}`],
    ["a long word", "a".repeat(100_000)],
    ["folders", `cd ${"a/".repeat(50_000)} && rm x`],
  ])("%s takes little time", (_name, command) => {
    expect(timeOf(command)).toBeLessThan(1_500);
  });

  it("never make it throw, and the same line always reads the same", () => {
    const piece = fc.constantFrom(
      '"',
      "'",
      "\\",
      "\n",
      " ",
      "&&",
      "|",
      ";",
      ">",
      ">>",
      "2>&1",
      "<<EOF",
      "EOF",
      "$(",
      ")",
      "cd ..",
      "cd a",
      "rm",
      "mv",
      "sed -i",
      "-e",
      "git commit -m",
      "npm test",
      "a.ts",
      "-",
      "../b",
      "😀",
      "\ud800",
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, fc.string({ unit: "binary", maxLength: 6 })), { maxLength: 60 }),
        (pieces) => {
          const command = pieces.join(" ");
          const effects = readShell(command);
          expect(readShell(command)).toEqual(effects);
          for (const { path } of effects.files) expect(path).not.toBe("");
        },
      ),
      { numRuns: 400 },
    );
  });
});
