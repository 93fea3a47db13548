import { Argument, type Command, InvalidArgumentError, Option } from "commander";

/** The commands by which other programs come in: the gateway, MCP, and what is put into them. */
export function addIntegrations(program: Command): void {
  addMcp(program);
  addStart(program);
  addSetup(program);
  addHook(program);
}

function addMcp(program: Command): void {
  program
    .command("mcp")
    .description("serve the recall tools to an MCP client on standard input and output")
    .addOption(new Option("--session <key>", "the session they are used in: it is meant when no other is named"))
    .addOption(new Option("--grant <id>", "a delegated reader's grant, which bounds what it sees").conflicts("session"))
    .action(async (flags) => (await import("./commands/mcp.ts")).mcpCommand(flags));
}

function addStart(program: Command): void {
  program
    .command("start")
    .description("run the gateway")
    .option("--port <n>", "the port; 0 takes any free one", wholeNumber)
    .option("--host <address>", "the address to listen on")
    .option("--open", "open the browser")
    .action(async (flags) => (await import("./commands/start.ts")).startCommand(flags));
}

function addSetup(program: Command): void {
  program
    .command("setup")
    .description("put Varve into another program, or take it out again; shows what it changes first")
    .addArgument(
      new Argument("<program>").choices(["claude-code", "claude-desktop", "cursor", "codex", "openclaw", "pi"]),
    )
    .option("--print", "show what would be changed and change nothing")
    .option("--remove", "take away what was put there")
    .option("--yes", "do not ask")
    .action(async (name, flags) => (await import("./commands/setup.ts")).setupCommand(name, flags));
}

function addHook(program: Command): void {
  program
    .command("hook")
    .description("answer an event of Claude Code; its plugin calls this")
    .argument("<event>", "SessionStart, UserPromptSubmit, PreCompact, PostCompact, Stop, SubagentStop or SessionEnd")
    .option(
      "--deadline <ms>",
      "after so many milliseconds it ends with nothing said; 1500, at SessionEnd 1000",
      wholeNumber,
    )
    .action(async (event, flags) => (await import("./hook/run-hook.ts")).runHook(event, flags));
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError("must be a whole number from 0");
  return value;
}
