import { type Command, InvalidArgumentError } from "commander";

const rightNames = ["read", "write", "admin"] as const;
type RightName = (typeof rightNames)[number];

/** Defines the commands that decide who may use the gateway. */
export function addAccessCommands(program: Command): void {
  addTokenCommands(program);
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
