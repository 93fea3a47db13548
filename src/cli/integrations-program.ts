import { Argument, type Command, Option } from "commander";
import { parseWholeNumber } from "./option-parsers.ts";

/** Defines the commands that connect other programs: the gateway, the MCP server, setup and hooks. */
export function addIntegrationCommands(program: Command): void {
  addMcpCommand(program);
  addGrantCommands(program);
  addStartCommand(program);
  addSetupCommand(program);
  addHookCommand(program);
}

function addMcpCommand(program: Command): void {
  program
    .command("mcp")
    .description("Run an MCP server with the recall tools on standard input and output")
    .addOption(new Option("--session <key>", "the session that tools use when a call names no other"))
    .addOption(
      new Option("--grant <id>", "the grant of a delegated reader, which limits what it can see").conflicts("session"),
    )
    .addOption(new Option("--channel <name>", "where the person of --peer has this id, such as app or telegram"))
    .addOption(
      new Option("--peer <id>", "the person whose memory the tools reach; the owner's when absent").conflicts([
        "session",
        "grant",
      ]),
    )
    .action(async (flags) => (await import("./commands/mcp.ts")).mcpCommand(flags));
}

function addGrantCommands(program: Command): void {
  const load = () => import("./commands/grants.ts");
  const collect = (value: string, previous: string[] | undefined) => [...(previous ?? []), value];
  const grants = program.command("grants").description("Let sub-agents read some conversations for a time");
  grants
    .command("create")
    .description("Create a grant for a session and print its id")
    .argument("<session>", "the session that delegates: a key or a session id")
    .option("--also <session>", "another session to open; can be repeated", collect)
    .option("--tokens <n>", "the most that may be read; 16000 by default", parseWholeNumber(1))
    .option("--minutes <n>", "how long it can be used; 60 by default", parseWholeNumber(1))
    .action(async (session, flags) => (await load()).createGrantCommand(session, flags));
  grants
    .command("list")
    .description("List grants, newest first")
    .option("--limit <n>", "the maximum number of grants", parseWholeNumber(1))
    .action(async (flags) => (await load()).listGrantsCommand(flags));
  grants
    .command("revoke")
    .description("End a grant at once")
    .argument("[id]", "the id of the grant")
    .option("--all", "end all active grants of the agent")
    .action(async (id, flags) => (await load()).revokeGrantCommand(id, flags));
}

function addStartCommand(program: Command): void {
  program
    .command("start")
    .description("Start the gateway: web page, HTTP API, MCP server and model proxy")
    .option("--port <n>", "the port to listen on; 0 picks a free one", parseWholeNumber(0))
    .option("--host <address>", "the address to listen on; only this machine can connect by default")
    .option("--open", "open the gateway in the browser")
    .action(async (flags) => (await import("./commands/start.ts")).startCommand(flags));
}

function addSetupCommand(program: Command): void {
  program
    .command("setup")
    .description("Add Varve to another program, or remove it; shows the changes and asks first")
    .addArgument(
      new Argument("<program>", "the program to set up").choices([
        "claude-code",
        "claude-desktop",
        "cursor",
        "codex",
        "openclaw",
        "pi",
      ]),
    )
    .option("--print", "show the changes without making them")
    .option("--remove", "remove what setup added")
    .option("--from <plugins>", "take over from plugins of OpenClaw: lossless-claw,memory-lancedb-pro")
    .option("--no-import", "leave the existing history of OpenClaw to `varve import`")
    .option("--yes", "skip confirmation")
    .action(async (name, flags) => (await import("./commands/setup.ts")).setupCommand(name, flags));
}

function addHookCommand(program: Command): void {
  program
    .command("hook")
    .description("Handle a hook event of Claude Code; the plugin calls this")
    .argument("<event>", "SessionStart, UserPromptSubmit, PreCompact, PostCompact, Stop, SubagentStop or SessionEnd")
    .option(
      "--deadline <ms>",
      "exit without output after this many milliseconds; 1500 by default, 1000 for SessionEnd",
      parseWholeNumber(0),
    )
    .action(async (event, flags) => (await import("./hook/run-hook.ts")).runHook(event, flags));
}
