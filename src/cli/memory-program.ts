import { type Command, Option } from "commander";
import { categoryNames } from "../index.ts";
import { parseFraction, parseTime, parseWholeNumber } from "./option-parsers.ts";

const load = () => import("./commands/memory.ts");

const collectValues = (value: string, previous: string[] | undefined) => [...(previous ?? []), value];

/** Defines `varve memory …`. */
export function addMemoryCommands(program: Command): void {
  const memory = program.command("memory").description("Store, search, change and forget memories");
  const addCommand = (name: string, description: string) =>
    memory
      .command(name)
      .description(description)
      .option(
        "--scope <scope>",
        "global, agent:<id>, user:<id>, project:<id> or custom:<name>; can be repeated",
        collectValues,
      );
  const categoryOption = () => new Option("--category <name>", "the category").choices(categoryNames);
  const addCommandForOne = (name: string, description: string) =>
    addCommand(name, description).argument("<what...>", "a memory id (mem_…), or words that match exactly one memory");

  addCommand("add", "Store a fact")
    .argument("<text...>", "one fact, as a sentence")
    .addOption(categoryOption())
    .option("--importance <share>", "the importance, 0 to 1", parseFraction)
    .option("--valid-from <time>", "the time from which the fact is true", parseTime)
    .option("--force", "store it even if it duplicates an existing memory")
    .option("--replaces <id>", "the memory (mem_…) whose place it takes; the old one stays in its history")
    .action(async (text, flags) => (await load()).addCommand(text, flags));
  addCommand("list", "List current memories, newest first")
    .addOption(categoryOption())
    .option("--limit <n>", "the maximum number of memories", parseWholeNumber(0))
    .option("--offset <n>", "skip this many memories", parseWholeNumber(0))
    .option("--as-of <time>", "the memories that were current at this time", parseTime)
    .option("--history", "include superseded and forgotten memories")
    .action(async (flags) => (await load()).listCommand(flags));
  addCommandForOne("show", "Show a memory with the messages it was extracted from").action(async (what, flags) =>
    (await load()).showCommand(what, flags),
  );
  addCommand("search", "Search memories")
    .argument("<query...>", "words or a question")
    .addOption(categoryOption())
    .option("--limit <n>", "the maximum number of memories", parseWholeNumber(0))
    .option("--as-of <time>", "the memories that were current at this time", parseTime)
    .option("--history", "include superseded and forgotten memories")
    .option("--explain", "show the score of each memory after every stage")
    .action(async (query, flags) => (await load()).searchCommand(query, flags));
  addCommandForOne("update", "Change a memory by storing a new version of it")
    .option("--text <text>", "the new text")
    .option("--importance <share>", "the new importance, 0 to 1", parseFraction)
    .option("--past", "correct a version of the past for the time it was valid")
    .addOption(categoryOption())
    .action(async (what, flags) => (await load()).updateCommand(what, flags));
  addCommandForOne("history", "List every version of a memory").action(async (what, flags) =>
    (await load()).historyCommand(what, flags),
  );
  addCommand("stats", "Count memories by scope, category and tier")
    .addOption(categoryOption())
    .action(async (flags) => (await load()).statsCommand(flags));
  addCommand("review", "List extracted facts that need a decision, or decide one")
    .option("--accept <id>", "store this one as a memory")
    .addOption(new Option("--reject <id>", "discard this one").conflicts("accept"))
    .option("--refused", "list the facts that memory.admission refused; --accept stores one of them")
    .action(async (flags) => (await load()).reviewCommand(flags));
  memory
    .command("extract")
    .description("Extract memories from sessions, or show what would be extracted")
    .argument("[session]", "a session key or id; all sessions when omitted, the newest first")
    .option("--dry-run", "show the facts that the built-in rules find, and store nothing")
    .action(async (session, flags) => (await load()).extractCommand(session, flags));
  addCommandForOne("forget", "Forget a memory: it is no longer recalled, its history is kept")
    .option("--purge", "erase it and all its versions permanently")
    .option("--yes", "confirm --purge")
    .action(async (what, flags) => (await load()).forgetCommand(what, flags));
}
