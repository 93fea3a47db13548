import { type Command, InvalidArgumentError } from "commander";
import { parseTime, parseWholeNumber } from "./option-parsers.ts";

const rightNames = ["read", "write", "admin"] as const;
type RightName = (typeof rightNames)[number];

/** Defines the commands that decide who may use the gateway. */
export function addAccessCommands(program: Command): void {
  addOwnerCommands(program);
  addTokenCommands(program);
  addAuditCommands(program);
  addForgetPersonCommand(program);
}

function addForgetPersonCommand(program: Command): void {
  program
    .command("forget-person")
    .description("Erase everything of a person: chats, messages in groups, summaries, memories, files, vectors")
    .argument(
      "<person>",
      "the person's id in a channel, such as telegram:5054873275, or a name of session.identityLinks",
    )
    .option("--dry-run", "show what would be erased, and change nothing")
    .option("--name <name...>", "further names under which the person writes in groups")
    .option("--yes", "confirm the erasure")
    .action(async (id, flags) => (await import("./commands/forget-person.ts")).forgetPersonCommand(id, flags));
}

function addAuditCommands(program: Command): void {
  const load = () => import("./commands/audit.ts");
  const audit = program.command("audit").description("Show and check who read or changed what (gateway.audit)");
  audit
    .command("list")
    .description("List records of the audit log, newest first")
    .option("--since <time>", "only records from this date or time on", parseTime)
    .option("--principal <name>", "only records of this principal, such as owner or the name of a token")
    .option("--limit <n>", "the maximum number of records; 50 by default", parseWholeNumber(1))
    .action(async (flags) => (await load()).listAuditCommand(flags));
  audit
    .command("verify")
    .description("Check that no record of the audit log was changed or removed, and print its head")
    .option("--expect <head>", "a head that was printed earlier and must still be in the log, as NUM:HASH")
    .action(async (flags) => (await load()).verifyAuditCommand(flags));
}

function addOwnerCommands(program: Command): void {
  const load = () => import("./commands/owner.ts");
  const owner = program.command("owner").description("Say who the owner of an agent is");
  const addCommand = (name: string, description: string) =>
    owner
      .command(name)
      .description(description)
      .argument("<channel>", "the channel, such as telegram; local for a program without a channel")
      .argument("<id>", "the owner's id in the channel");
  addCommand("add", "Name an id of the owner: its direct chats continue the owner's conversation").action(
    async (channel, id, flags) => (await load()).addOwnerCommand(channel, id, flags),
  );
  owner
    .command("list")
    .description("List the owner's ids, and people who wrote and are not known")
    .action(async (flags) => (await load()).listOwnersCommand(flags));
  addCommand("remove", "Remove an id of the owner; its next message opens a session of its own").action(
    async (channel, id, flags) => (await load()).removeOwnerCommand(channel, id, flags),
  );
  owner
    .command("claim")
    .description("Make a session the owner's that was recorded without knowing whose it is")
    .argument("<session>", "a session key, a session id, or the start of one")
    .action(async (name, flags) => (await load()).claimSessionCommand(name, flags));
}

function addTokenCommands(program: Command): void {
  const load = () => import("./commands/tokens.ts");
  const tokens = program.command("tokens").description("Create, list, rotate and revoke access tokens of the gateway");
  tokens
    .command("create")
    .description("Create an access token and print its secret once; --agent binds it to one agent")
    .argument("<name>", "the program or person that uses it")
    .option("--rights <list>", "what it may do, comma-separated: read, write, admin", parseRights, ["read", "write"])
    .option("--scope <scope...>", "the only memory scopes that it may use")
    .option("--expires <when>", "a duration such as 30d, a date, or never; 90d by default")
    .action(async (name, flags) => (await load()).createTokenCommand(name, flags));
  tokens
    .command("list")
    .description("List the access tokens in the database, newest first")
    .action(async (flags) => (await load()).listTokensCommand(flags));
  tokens
    .command("rotate")
    .description("Replace an access token by a new one with the same name and rights, and print its secret once")
    .argument("<token>", "the id or the name of the token")
    .option("--grace <duration>", "how long the old secret is still accepted, such as 1h; not at all by default")
    .option("--expires <when>", "a duration such as 30d, a date, or never; the same lifetime by default")
    .action(async (id, flags) => (await load()).rotateTokenCommand(id, flags));
  tokens
    .command("revoke")
    .description("Revoke an access token")
    .argument("<token>", "the id or the name of the token")
    .action(async (id, flags) => (await load()).revokeTokenCommand(id, flags));
}

function parseRights(text: string): RightName[] {
  const given = text.split(",").map((right) => right.trim());
  const known = rightNames.filter((right) => given.includes(right));
  if (known.length === given.length) return known;
  throw new InvalidArgumentError("must be some of read, write and admin, comma-separated");
}
