import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { exportFormats, profiles, sourceNames, version } from "../engine.ts";
import { examples } from "./examples.ts";
import { addIntegrations } from "./integrations-program.ts";
import { addMemory } from "./memory-program.ts";

/** Every command, with what it does loaded only when it runs: a command starts fast because it loads little. */
export function buildProgram(): Command {
  const program = new Command("varve")
    .description("A memory that loses nothing, for any LLM agent.")
    .version(version)
    .exitOverride()
    .showHelpAfterError("(`varve COMMAND --help` shows what a command takes)")
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true });
  addImport(program);
  addExport(program);
  addSearch(program);
  addSessions(program);
  addContext(program);
  addGrep(program);
  addMemory(program);
  addCare(program);
  addConfig(program);
  addIntegrations(program);
  addChat(program);
  addBench(program);
  addDemo(program);
  for (const command of program.commands) finish(command, []);
  return program;
}

/** The options and examples that every command has. */
function finish(command: Command, path: string[]): void {
  const name = [...path, command.name()];
  if (command.commands.length > 0) {
    for (const child of command.commands) finish(child, name);
    return;
  }
  command
    .addOption(new Option("--home <folder>", "where everything is kept").env("VARVE_HOME"))
    .option("--database <where>", "an SQLite file or a postgres:// address")
    .option("--agent <id>", "whose memory")
    .option("--json", "one JSON document on standard output");
  const lines = examples[name.join(" ")] ?? [];
  if (lines.length > 0) command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

const whole = (least: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) throw new InvalidArgumentError(`must be a whole number from ${least}`);
  return value;
};

/** A date or a time, as milliseconds since 1970. */
function instant(text: string): number {
  const value = /^\d{10,}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError("must be a date such as 2026-05-01 or 2026-05-01T12:00");
  return value;
}

function lineRange(text: string): { from: number; to: number } {
  const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  if (from === undefined) throw new InvalidArgumentError("must be two line numbers such as 1-100");
  return { from: Number(from), to: Number(to ?? from) };
}

function addImport(program: Command): void {
  program
    .command("import")
    .description("bring in transcripts of Claude Code, pi, OpenClaw, Codex, ChatGPT, Claude.ai, or plain JSON lines")
    .argument("<path...>", "files, or folders to look through")
    .addOption(
      new Option("--source <name>", "the format of the files").choices(["auto", ...sourceNames]).default("auto"),
    )
    .option("--watch", "stay and import what is added")
    .action(async (paths, flags) => (await import("./commands/import.ts")).runImport(paths, flags));
}

function addExport(program: Command): void {
  program
    .command("export")
    .description("write a session as JSON lines (which import reads back), Markdown or HTML")
    .argument("<session>", "a session key, a session id, or the start of one")
    .addOption(new Option("--format <format>", "the form").choices(exportFormats).default("jsonl"))
    .option("--out <file>", "write to a file instead of standard output")
    .action(async (name, flags) => (await import("./commands/export.ts")).runExport(name, flags));
}

function addSearch(program: Command): void {
  const load = () => import("./commands/search.ts");
  program
    .command("search")
    .description("find what was said, by its words and by its meaning")
    .argument("<query>", 'words or a question; "a phrase" must be there, -word must not')
    .option("--kind <list>", "message, summary, memory, chunk, file; with commas between")
    .option("--session <key>", "only this session's conversation")
    .option("--scope <scope...>", "memories of these scopes only")
    .option("--since <time>", "not older than this")
    .option("--before <time>", "older than this")
    .option("--limit <n>", "how many", whole(1))
    .option("--min-score <n>", "leave out what scores below this", Number)
    .addOption(new Option("--profile <name>", "how results are scored").choices([...profiles]))
    .addOption(
      new Option("--mode <name>", "by words and meaning (hybrid), or by one of them: text starts sooner").choices([
        "hybrid",
        "text",
        "vector",
      ]),
    )
    .option("--explain", "show the score after every stage")
    .action(async (query, flags) => (await load()).searchCommand(query, flags));
  program
    .command("index")
    .description("embed the messages that have no vector yet, so that search finds them by meaning")
    .action(async (flags) => (await load()).indexCommand(flags));
}

function addSessions(program: Command): void {
  const load = () => import("./commands/sessions.ts");
  const sessions = program.command("sessions").description("list, read, renew, fork and restore sessions");
  sessions
    .command("list")
    .description("the sessions, the latest used first")
    .option("--limit <n>", "how many", whole(1))
    .option("--after <cursor>", "the next page")
    .option("--channel <name>", "only one channel")
    .option("--match <text>", "only keys that contain this")
    .action(async (flags) => (await load()).listCommand(flags));
  const named = (name: string, words: string) => sessions.command(name).description(words).argument("<session>");
  named("show", "a session and its last messages")
    .option("--limit <n>", "how many messages", whole(1))
    .option("--before <seq>", "the page before", whole(1))
    .action(async (name, flags) => (await load()).showCommand(name, flags));
  named("new", "open a new session id in the same conversation").action(async (name, flags) =>
    (await load()).renewCommand(name, "new", flags),
  );
  named("reset", "archive the conversation and begin a fresh one").action(async (name, flags) =>
    (await load()).renewCommand(name, "reset", flags),
  );
  named("fork", "a child that continues from here without copying anything")
    .option("--key <key>", "the child's session key")
    .option("--at <entry>", "the entry to fork at instead of the last")
    .action(async (name, flags) => (await load()).forkCommand(name, flags));
  named("restore", "undo a reset")
    .argument("[session-id]", "the session id to go back to instead of the one before")
    .action(async (name, sessionId, flags) => (await load()).restoreCommand(name, sessionId, flags));
  named("delete", "erase a session for good")
    .option("--yes", "really")
    .action(async (name, flags) => (await load()).deleteCommand(name, flags));
}

function addContext(program: Command): void {
  const load = () => import("./commands/context.ts");
  const context = program.command("context").description("what the model sees of a session");
  const named = (name: string, words: string) =>
    context
      .command(name)
      .description(words)
      .argument("<session>")
      .option("--budget <tokens>", "how much may be seen", whole(256));
  named("show", "the summaries in the context, and what lies behind them").action(async (name, flags) =>
    (await load()).showCommand(name, flags),
  );
  named("tree", "the summaries as a tree").action(async (name, flags) => (await load()).treeCommand(name, flags));
  named("assemble", "the messages as a model would get them")
    .option("--prompt <text>", "what the model is about to be asked")
    .action(async (name, flags) => (await load()).assembleCommand(name, flags));
  named("compact", "summarise what is old until the budget is kept")
    .option("--instructions <text>", "what to pay attention to")
    .option("--keep-recent [tokens]", "leave the newest as they are, so many tokens of them", whole(1))
    .action(async (name, flags) => (await load()).compactCommand(name, flags));
  program
    .command("describe")
    .description("what a citation stands for: a summary, large content or a message")
    .argument("<id>", "sum_…, file_… or msg#N; or a session for the oldest summary in its context")
    .option("--tokens <n>", "how much at most", whole(1))
    .option("--lines <from-to>", "these lines of large content", lineRange)
    .option("--all", "large content from its start")
    .action(async (id, flags) => (await load()).describeCommand(id, flags));
  program
    .command("expand")
    .description("open summaries down to what they were made from")
    .argument("<what...>", "summary ids, a session for all in its context, or a question whose best hits are opened")
    .option("--session <key>", "only this session, for a question")
    .option("--depth <n>", "how many levels", whole(0))
    .option("--tokens <n>", "how much at most", whole(1))
    .option("--messages", "down to the messages themselves")
    .action(async (ids, flags) => (await load()).expandCommand(ids, flags));
}

const modes = ["regex", "full_text"];
const scopes = ["both", "messages", "summaries", "files"];
const orders = ["recency", "relevance", "hybrid"];

function addGrep(program: Command): void {
  program
    .command("grep")
    .description("find every message, summary or large content that a pattern matches")
    .argument("<pattern>", "a regular expression (RE2 syntax), or words")
    .addOption(new Option("--mode <mode>", "what the pattern is").choices(modes).default("regex"))
    .addOption(
      new Option("--scope <scope>", "where to look; both is messages and summaries").choices(scopes).default("both"),
    )
    .addOption(new Option("--sort <order>", "which come first").choices(orders).default("recency"))
    .option("--session <key>", "only this session")
    .option("--since <time>", "from then on: a date, or a time in milliseconds", instant)
    .option("--before <time>", "before then", instant)
    .option("--limit <n>", "how many, 1 to 200", whole(1))
    .action(async (pattern, flags) => (await import("./commands/grep.ts")).grepCommand(pattern, flags));
}

function addCare(program: Command): void {
  const load = () => import("./commands/maintenance.ts");
  program
    .command("status")
    .description("what is kept where, and how it is")
    .action(async (flags) => (await load()).statusCommand(flags));
  program
    .command("doctor")
    .description("look for anything that is wrong")
    .option("--fix", "mend what can be mended, after a backup")
    .option("--rebuild", "make everything anew that is derived from the log")
    .action(async (flags) => (await load()).doctorCommand(flags));
  program
    .command("maintain")
    .description("do the work that waits, such as compactions that turns left behind")
    .action(async (flags) => (await load()).maintainCommand(flags));
  program
    .command("backup")
    .description("copy the database while it is in use")
    .argument("[file]", "where to; the backups folder when absent")
    .option("--portable", "JSON lines that SQLite and PostgreSQL can both restore")
    .action(async (file, flags) => (await load()).backupCommand(file, flags));
  program
    .command("restore")
    .description("put a backup in place of the database")
    .argument("<file>")
    .option("--yes", "do not ask")
    .action(async (file, flags) => (await load()).restoreCommand(file, flags));
}

function addConfig(program: Command): void {
  const load = () => import("./commands/config.ts");
  const config = program.command("config").description("show and change settings");
  config
    .command("list")
    .description("every setting, its value and where it comes from")
    .action(async (flags) => (await load()).listCommand(flags));
  config
    .command("get")
    .description("one setting")
    .argument("<key>")
    .action(async (key, flags) => (await load()).getCommand(key, flags));
  config
    .command("set")
    .description("change a setting in config.yaml; comments stay")
    .argument("<key>")
    .argument("<value>")
    .action(async (key, value, flags) => (await load()).setCommand(key, value, flags));
  config
    .command("unset")
    .description("take a setting out of config.yaml")
    .argument("<key>")
    .action(async (key, flags) => (await load()).unsetCommand(key, flags));
  config
    .command("check")
    .description("look for mistakes in the settings")
    .action(async (flags) => (await load()).checkCommand(flags));
}

function addChat(program: Command): void {
  program
    .command("chat")
    .description("talk in the terminal; without a model, memory and history answer")
    .argument("[message...]", "say this, print the reply and end")
    .option("--session <key>", "the session to talk in")
    .action(async (words, flags) => (await import("./commands/chat.ts")).chatCommand(words, flags));
}

function addDemo(program: Command): void {
  program
    .command("demo")
    .description("a guided tour on a conversation made for it; no key, nothing of yours is touched")
    .option("--keep", "leave the tour's folder behind")
    .action(async (flags) => (await import("./commands/demo.ts")).demoCommand(flags));
}

function addBench(program: Command): void {
  program
    .command("bench")
    .description("measure, beside a baseline in the same run")
    .addArgument(new Argument("<what>").choices(["speed", "context", "recall", "turns"]))
    .option("--sizes <list>", "numbers of messages, with commas between", "10000,100000")
    .option("--large", "also 1,000,000 messages")
    .option("--no-baselines", "recall: leave out what it is compared with")
    .option("--only <list>", "speed: only these of ingest, process, hybrid, recall, memory")
    .option("--datasets <list>", "recall: only these folders of --data, with commas between")
    .option("--think <ms>", "turns: how long people think between messages, on average", whole(0))
    .option("--data <folder>", "conversations with questions, for the benches that need them")
    .action(async (what, flags) => (await import("./commands/bench.ts")).benchCommand(what, flags));
}
