import { Argument, Command, Option } from "commander";
import { exportFormats, profiles, sourceNames, version } from "../index.ts";
import { addAccessCommands } from "./access-program.ts";
import { noteCommand } from "./command-audit.ts";
import { examples } from "./examples.ts";
import { addIntegrationCommands } from "./integrations-program.ts";
import { addMemoryCommands } from "./memory-program.ts";
import { parseLineRange, parseTime, parseWholeNumber } from "./option-parsers.ts";

/** Defines every command. The code of a command is imported only when it runs, which keeps the start fast. */
export function buildProgram(): Command {
  const program = new Command("varve")
    .description("A memory that loses nothing, for any LLM agent.")
    .version(version)
    .exitOverride()
    .hook("preAction", (_, command) => noteCommand(command))
    .showHelpAfterError("(`varve COMMAND --help` lists the arguments and options of a command)")
    .configureHelp({ sortSubcommands: false, showGlobalOptions: true });
  addImportCommand(program);
  addExportCommand(program);
  addSearchCommands(program);
  addSessionCommands(program);
  addContextCommands(program);
  addGrepCommand(program);
  addMemoryCommands(program);
  addMaintenanceCommands(program);
  addDatabaseCommands(program);
  addSecretCommands(program);
  addConfigCommands(program);
  addIntegrationCommands(program);
  addAccessCommands(program);
  addChatCommand(program);
  addBenchCommand(program);
  addDemoCommand(program);
  for (const command of program.commands) addCommonOptions(command, []);
  return program;
}

/** Adds the options that every command has, and its examples. */
function addCommonOptions(command: Command, path: string[]): void {
  const name = [...path, command.name()];
  if (command.commands.length > 0) {
    for (const child of command.commands) addCommonOptions(child, name);
    return;
  }
  command
    .addOption(new Option("--home <folder>", "Varve's folder; ~/.varve by default").env("VARVE_HOME"))
    .option("--database <where>", "an SQLite file or a postgres:// URL; varve.db in the folder by default")
    .option("--agent <id>", "the agent whose sessions and memories are used")
    .option("--json", "print one JSON document on standard output");
  const lines = examples[name.join(" ")] ?? [];
  if (lines.length > 0) command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}

function addImportCommand(program: Command): void {
  program
    .command("import")
    .description("Import transcripts of Claude Code, pi, OpenClaw, Codex, ChatGPT, Claude.ai, JSON lines, or memories")
    .argument("<path...>", "transcript files, folders that contain them, or the home of OpenClaw")
    .addOption(
      new Option("--source <name>", "the format of the files").choices(["auto", ...sourceNames]).default("auto"),
    )
    .option("--watch", "keep running and import new messages as the files change")
    .option("--dry-run", "show what would be imported, and write nothing")
    .action(async (paths, flags) => (await import("./commands/import.ts")).runImport(paths, flags));
}

function addExportCommand(program: Command): void {
  program
    .command("export")
    .description("Export a session as JSON lines (which import reads back), Markdown or HTML")
    .argument("<session>", "a session key, a session id, or the start of one")
    .addOption(new Option("--format <format>", "the output format").choices(exportFormats).default("jsonl"))
    .option("--out <file>", "write to a file instead of standard output")
    .action(async (name, flags) => (await import("./commands/export.ts")).runExport(name, flags));
}

function addSearchCommands(program: Command): void {
  const load = () => import("./commands/search.ts");
  program
    .command("search")
    .description("Search messages, summaries, memories and files by keywords and by meaning")
    .argument("<query>", 'words or a question; results contain every "quoted phrase" and no -word')
    .option("--kind <list>", "only these kinds, comma-separated: message, summary, memory, chunk, file")
    .option("--session <key>", "only this session's conversation")
    .option("--scope <scope...>", "only memories of these scopes")
    .option("--since <time>", "only results from this date or time on")
    .option("--before <time>", "only results before this date or time")
    .option("--limit <n>", "the maximum number of results", parseWholeNumber(1))
    .option("--min-score <n>", "omit results with a lower score", Number)
    .addOption(new Option("--profile <name>", "the scoring profile").choices([...profiles]))
    .addOption(
      new Option(
        "--mode <name>",
        "keywords and embeddings (hybrid), or only one (text, vector); instant uses no embedding model. Without it, a running gateway searches hybrid, and this command instant",
      ).choices(["instant", "hybrid", "text", "vector"]),
    )
    .option("--explain", "show each result's score after every ranking stage")
    .action(async (query, flags) => (await import("./commands/find.ts")).searchCommand(query, flags));
  program
    .command("index")
    .description("Embed the messages that have no vector yet, so that search finds them by meaning")
    .action(async (flags) => (await load()).indexCommand(flags));
  program
    .command("tune")
    .description(
      "Learn the weights of the ranking from questions that were asked again and answers that were corrected",
    )
    .option("--dry-run", "only report what would be learned")
    .option("--show", "show the learned weights and what they gain")
    .option("--undo", "remove the learned weights, so that the settings apply again")
    .action(async (flags) => (await import("./commands/tune.ts")).tuneCommand(flags));
}

function addSessionCommands(program: Command): void {
  const load = () => import("./commands/sessions.ts");
  const sessions = program.command("sessions").description("List, read, renew, fork, restore and delete sessions");
  sessions
    .command("list")
    .description("List sessions, most recently used first")
    .option("--limit <n>", "the maximum number of sessions", parseWholeNumber(1))
    .option("--after <cursor>", "continue after this cursor, which the previous page prints")
    .option("--channel <name>", "only sessions of this channel")
    .option("--match <text>", "only sessions whose key contains this text")
    .option("--parent <key>", "only the sub-agents of this session")
    .option("--all", "list sub-agents next to the sessions that started them")
    .action(async (flags) => (await load()).listCommand(flags));
  const addCommand = (name: string, description: string) =>
    sessions
      .command(name)
      .description(description)
      .argument("<session>", "a session key, a session id, or the start of one");
  addCommand("show", "Show a session and its last messages")
    .option("--limit <n>", "the maximum number of messages", parseWholeNumber(1))
    .option("--before <seq>", "only messages before this sequence number", parseWholeNumber(1))
    .option("--summary", "print a hand-over instead: what was asked, done and found, and what is open")
    .option("--tokens <n>", "the size of the hand-over; 1500 by default", parseWholeNumber(100))
    .action(async (name, flags) => (await load()).showCommand(name, flags));
  addCommand("new", "Start a new session id in the same conversation").action(async (name, flags) =>
    (await load()).renewCommand(name, "new", flags),
  );
  addCommand("reset", "Archive the conversation and start an empty one").action(async (name, flags) =>
    (await load()).renewCommand(name, "reset", flags),
  );
  addCommand("fork", "Create a child session that shares the history up to here, without copying it")
    .option("--key <key>", "the child's session key; generated by default")
    .option("--at <entry>", "the entry to fork at, as msg#12 or by its id; the last one by default")
    .action(async (name, flags) => (await load()).forkCommand(name, flags));
  addCommand("restore", "Undo a reset: return to an earlier session id")
    .argument("[session-id]", "the session id to return to; the previous one by default")
    .action(async (name, sessionId, flags) => (await load()).restoreCommand(name, sessionId, flags));
  addCommand("delete", "Delete a session and its messages permanently")
    .option("--yes", "confirm the deletion")
    .action(async (name, flags) => (await load()).deleteCommand(name, flags));
}

function addContextCommands(program: Command): void {
  const load = () => import("./commands/context.ts");
  const context = program.command("context").description("Inspect and compact the context that a model gets");
  const addCommand = (name: string, description: string) =>
    context
      .command(name)
      .description(description)
      .argument("<session>", "a session key, a session id, or the start of one")
      .option("--budget <tokens>", "the token budget of the context", parseWholeNumber(256));
  addCommand("show", "List the summaries in the context, and the size of the messages after them").action(
    async (name, flags) => (await load()).showCommand(name, flags),
  );
  addCommand("tree", "Show the summaries as a tree").action(async (name, flags) =>
    (await load()).treeCommand(name, flags),
  );
  addCommand("assemble", "Print the messages as a model would get them")
    .option("--prompt <text>", "the user's next message; related messages are recalled for it")
    .action(async (name, flags) => (await load()).assembleCommand(name, flags));
  addCommand("compact", "Summarise the oldest messages until the context fits the budget")
    .option("--instructions <text>", "instructions for the model that writes the summaries")
    .option("--keep-recent [tokens]", "do not summarise this many tokens of the newest messages", parseWholeNumber(1))
    .action(async (name, flags) => (await load()).compactCommand(name, flags));
  program
    .command("describe")
    .description("Show what a citation refers to: a summary, a large file or a message")
    .argument("<id>", "sum_…, file_… or msg#N; or a session, for the oldest summary in its context")
    .option("--tokens <n>", "the maximum number of tokens to print", parseWholeNumber(1))
    .option("--lines <from-to>", "print these lines of a large file", parseLineRange)
    .option("--all", "print a large file from its start")
    .action(async (id, flags) => (await load()).describeCommand(id, flags));
  program
    .command("expand")
    .description("Expand summaries into the summaries and messages they were made from")
    .argument("<what...>", "summary ids; a session, for all summaries in its context; or a question to search them by")
    .option("--session <key>", "search only this session, when a question is given")
    .option("--depth <n>", "the maximum number of levels", parseWholeNumber(0))
    .option("--tokens <n>", "the maximum number of tokens to print", parseWholeNumber(1))
    .option("--messages", "include the original messages")
    .action(async (ids, flags) => (await load()).expandCommand(ids, flags));
}

const modes = ["regex", "full_text"];
const scopes = ["both", "messages", "summaries", "files"];
const orders = ["recency", "relevance", "hybrid"];

function addGrepCommand(program: Command): void {
  program
    .command("grep")
    .description("Find every message, summary or large file that matches a pattern")
    .argument("<pattern>", "a regular expression (RE2 syntax), or words with --mode full_text")
    .addOption(new Option("--mode <mode>", "the kind of pattern").choices(modes).default("regex"))
    .addOption(
      new Option("--scope <scope>", "where to search; both means messages and summaries")
        .choices(scopes)
        .default("both"),
    )
    .addOption(new Option("--sort <order>", "the order of the results").choices(orders).default("recency"))
    .option("--session <key>", "only this session")
    .option("--since <time>", "only results from this time on: a date, or milliseconds since 1970", parseTime)
    .option("--before <time>", "only results before this time", parseTime)
    .option("--limit <n>", "the maximum number of results, 1 to 200", parseWholeNumber(1))
    .action(async (pattern, flags) => (await import("./commands/grep.ts")).grepCommand(pattern, flags));
}

function addMaintenanceCommands(program: Command): void {
  const load = () => import("./commands/maintenance.ts");
  program
    .command("status")
    .description("Show storage status: location, sizes, embedding coverage, jobs and models")
    .action(async (flags) => (await load()).statusCommand(flags));
  program
    .command("doctor")
    .description("Check the database for faults")
    .option("--fix", "repair what can be repaired, after a backup")
    .option("--rebuild", "rebuild all indexes and other data that is derived from the transcripts")
    .action(async (flags) => (await load()).doctorCommand(flags));
  program
    .command("maintain")
    .description("Run pending jobs, such as compactions, and clean up memories and vectors")
    .action(async (flags) => (await load()).maintainCommand(flags));
  program
    .command("backup")
    .description("Back up the database while it is in use")
    .argument("[file]", "the file to write; a new one in the backups folder by default")
    .option("--portable", "write JSON lines, which SQLite and PostgreSQL can both restore")
    .action(async (file, flags) => (await load()).backupCommand(file, flags));
  program
    .command("restore")
    .description("Replace the database with a backup; the current database is kept as a file")
    .argument("<file>", "a backup that `varve backup` wrote")
    .option("--yes", "skip confirmation")
    .action(async (file, flags) => (await load()).restoreCommand(file, flags));
}

function addDatabaseCommands(program: Command): void {
  const load = () => import("./commands/db.ts");
  const db = program
    .command("db")
    .description("Check the database, and prepare a role for a gateway with many tenants");
  db.command("check")
    .description("Check that the database keeps tenants apart, which fails when it does not, and how it stores vectors")
    .action(async (flags) => (await load()).checkCommand(flags));
  db.command("vectors")
    .description("Move vectors into pgvector and index agents with many; a gateway does it in the background")
    .action(async (flags) => (await load()).vectorsCommand(flags));
  db.command("keygen")
    .description("Print a new key for encryption.key, or write it to a file that only you can read")
    .option("--out <file>", "write it to a new file instead")
    .action(async (flags) => (await load()).keygenCommand(flags));
  db.command("seal")
    .description("Encrypt what was written before encryption.key was set, or with an earlier key")
    .option("--decrypt", "decrypt everything instead; stop other processes first")
    .action(async (flags) => (await load()).sealCommand(flags));
  db.command("grants")
    .description("Print the statements that let a role of PostgreSQL use the tables; changes nothing")
    .argument("<role>", "the role that the gateway connects as")
    .action(async (role, flags) => (await load()).grantsCommand(role, flags));
  db.command("distribute")
    .description("Print the statements that distribute the tables over the workers of a Citus cluster")
    .option("--apply", "run them, for the tables that are not distributed yet; stop the gateways first")
    .action(async (flags) => (await load()).distributeCommand(flags));
}

function addSecretCommands(program: Command): void {
  const load = () => import("./commands/secrets.ts");
  const secrets = program.command("secrets").description("Show credentials that were taken out of messages");
  secrets
    .command("list")
    .description("List the kept credentials without their texts, newest first")
    .action(async (flags) => (await load()).listCommand(flags));
  secrets
    .command("show")
    .description("Show the text of a credential")
    .argument("[id]", "the id in its placeholder, such as sec_0123456789abcdef")
    .option("--last", "the newest one")
    .action(async (id, flags) => (await load()).showCommand(id, flags));
}

function addConfigCommands(program: Command): void {
  const load = () => import("./commands/config.ts");
  const config = program.command("config").description("Show and change settings");
  config
    .command("list")
    .description("List every setting with its value and its source")
    .action(async (flags) => (await load()).listCommand(flags));
  config
    .command("get")
    .description("Show the value of a setting")
    .argument("<key>", "the name of the setting, such as gateway.port")
    .action(async (key, flags) => (await load()).getCommand(key, flags));
  config
    .command("set")
    .description("Change a setting in config.yaml; comments in the file are kept")
    .argument("<key>", "the name of the setting, such as gateway.port")
    .argument("<value>", "the new value, as YAML")
    .action(async (key, value, flags) => (await load()).setCommand(key, value, flags));
  config
    .command("unset")
    .description("Remove a setting from config.yaml, so that its default applies")
    .argument("<key>", "the name of the setting, such as gateway.port")
    .action(async (key, flags) => (await load()).unsetCommand(key, flags));
  config
    .command("check")
    .description("Check config.yaml and the VARVE_… variables for mistakes")
    .action(async (flags) => (await load()).checkCommand(flags));
}

function addChatCommand(program: Command): void {
  program
    .command("chat")
    .description("Chat in the terminal; without a model, replies quote memories and history")
    .argument("[message...]", "send this message, print the reply and exit")
    .option("--session <key>", "the session to chat in; the agent's main session by default")
    .action(async (words, flags) => (await import("./commands/chat.ts")).chatCommand(words, flags));
}

function addDemoCommand(program: Command): void {
  program
    .command("demo")
    .description("Run a guided tour on a generated conversation; needs no API key and uses a temporary folder")
    .option("--keep", "keep the temporary folder")
    .action(async (flags) => (await import("./commands/demo.ts")).demoCommand(flags));
}

function addBenchCommand(program: Command): void {
  program
    .command("bench")
    .description("Run a benchmark and its baseline in the same run")
    .addArgument(
      new Argument("<what>", "the benchmark").choices([
        "all",
        "speed",
        "context",
        "recall",
        "memory",
        "turns",
        "attack",
        "scale",
      ]),
    )
    .option("--write <file>", "all: replace the table in a Markdown page, between its two marks")
    .option(
      "--sizes <list>",
      "speed, all and scale: numbers of messages, comma-separated; scale: of one growing database",
      "10000,100000",
    )
    .option("--vectors <n>", "scale: how many messages have vectors, 100,000 by default", parseWholeNumber(1_000))
    .option("--plot <file>", "all and scale: where the plot is written as SVG; scale: varve-scale.svg by default")
    .option("--large", "speed: measure 1,000,000 messages as well")
    .option("--no-baselines", "recall: skip the baselines")
    .option(
      "--only <list>",
      "only these parts, comma-separated; speed: ingest, process, hybrid, recall, memory; scale: growth, vectors; attack: attack, or its kinds patterns, bodies, tokens, slow, depth, and access",
    )
    .option(
      "--datasets <list>",
      "recall, context and memory: only these folders of --data, comma-separated; context: work for transcripts",
    )
    .option("--budgets <list>", "context: token budgets, comma-separated")
    .option("--missing", "context: list the items of transcripts that are not in view")
    .option("--think <ms>", "turns: the average pause between a reply and the next message", parseWholeNumber(0))
    .option("--seconds <n>", "attack: how long each phase takes", parseWholeNumber(1))
    .option(
      "--data <folder>",
      "recall, context and memory: the folder of datasets (conversations with questions); context: also of transcripts",
    )
    .action(async (what, flags) => (await import("./commands/bench.ts")).benchCommand(what, flags));
}
