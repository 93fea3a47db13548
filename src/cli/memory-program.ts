import { type Command, InvalidArgumentError, Option } from "commander";
import { categoryNames } from "../engine.ts";

const load = () => import("./commands/memory.ts");

function share(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError("must be a number from 0 to 1");
  return value;
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError("must be a whole number from 0");
  return value;
}

function instant(text: string): number {
  const value = /^\d{10,}$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError("must be a date such as 2026-05-01 or 2026-05-01T12:00");
  return value;
}

const collect = (one: string, before: string[] | undefined) => [...(before ?? []), one];

/** `varve memory …`: what is worth keeping. */
export function addMemory(program: Command): void {
  const memory = program.command("memory").description("what is remembered: facts with evidence, versions and scopes");
  const command = (name: string, words: string) =>
    memory
      .command(name)
      .description(words)
      .option(
        "--scope <scope>",
        "global, agent:<id>, user:<id>, project:<id> or custom:<name>; may be repeated",
        collect,
      );
  const kind = () => new Option("--category <name>", "what kind").choices(categoryNames);
  const named = (name: string, words: string) =>
    command(name, words).argument("<what...>", "an id (mem_…), or words that fit one memory");

  command("add", "keep a fact")
    .argument("<text...>", "one fact, as a sentence")
    .addOption(kind())
    .option("--importance <share>", "how much it matters, 0 to 1", share)
    .option("--valid-from <time>", "since when it holds", instant)
    .option("--force", "also when the same is known")
    .action(async (text, flags) => (await load()).addCommand(text, flags));
  command("list", "what is believed, the newest first")
    .addOption(kind())
    .option("--limit <n>", "how many", whole)
    .option("--offset <n>", "how many to pass over", whole)
    .option("--as-of <time>", "what was believed then", instant)
    .option("--history", "also what is believed no longer")
    .action(async (flags) => (await load()).listCommand(flags));
  named("show", "a memory with the words it rests on").action(async (what, flags) =>
    (await load()).showCommand(what, flags),
  );
  command("search", "what is remembered about something")
    .argument("<query...>")
    .addOption(kind())
    .option("--limit <n>", "how many", whole)
    .option("--as-of <time>", "what was believed then", instant)
    .option("--history", "also what is believed no longer")
    .action(async (query, flags) => (await load()).searchCommand(query, flags));
  named("update", "change a memory by another version")
    .option("--text <text>", "what it should say")
    .option("--importance <share>", "how much it matters, 0 to 1", share)
    .addOption(kind())
    .action(async (what, flags) => (await load()).updateCommand(what, flags));
  named("history", "every version of a memory").action(async (what, flags) =>
    (await load()).historyCommand(what, flags),
  );
  command("stats", "how much is remembered, and where")
    .addOption(kind())
    .action(async (flags) => (await load()).statsCommand(flags));
  command("review", "candidates that wait for a decision")
    .option("--accept <id>", "take one in")
    .addOption(new Option("--reject <id>", "turn one away").conflicts("accept"))
    .action(async (flags) => (await load()).reviewCommand(flags));
  named("forget", "stop believing a memory; its history stays")
    .option("--purge", "erase it with all its versions")
    .option("--yes", "really")
    .action(async (what, flags) => (await load()).forgetCommand(what, flags));
}
