import type { AccessToken, IssuedToken, NewAccessToken } from "../../index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { type Output, table, when } from "../output.ts";

export interface TokenFlags extends CommonOptions {
  rights: NewAccessToken["rights"];
  scope?: string[];
  expires?: string;
  grace?: string;
}

export async function listTokensCommand(flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const tokens = await varve.accessTokens.list();
    const rows = tokens.map((one) => [
      one.id,
      one.name,
      describeState(one),
      one.rights.join(","),
      one.agent ?? "every agent",
      one.scopes?.join(",") ?? "by the settings",
      one.expiresAt === null ? "never" : when(one.expiresAt),
      one.lastUsedAt === null ? "never" : when(one.lastUsedAt),
    ]);
    const headings = ["TOKEN", "NAME", "STATE", "RIGHTS", "AGENT", "SCOPES", "EXPIRES", "LAST USED"];
    output.show(rows.length === 0 ? "There are no access tokens in the database." : table(headings, rows));
    output.result(tokens);
  });
}

function describeState({ state, revokedAt }: AccessToken): string {
  return state === "active" && revokedAt !== null ? `active until ${when(revokedAt)}` : state;
}

export async function createTokenCommand(name: string, flags: TokenFlags): Promise<void> {
  await withVarve({ ...flags, agent: undefined }, async (varve, output) => {
    const { rights, agent, scope, expires } = flags;
    printIssued(output, await varve.accessTokens.create({ name, rights, agent, scopes: scope, expires }));
  });
}

export async function rotateTokenCommand(id: string, flags: TokenFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const issued = await varve.accessTokens.rotate(id, { grace: flags.grace, expires: flags.expires });
    printIssued(output, issued);
    output.say(
      flags.grace === undefined
        ? "The old secret is no longer accepted."
        : `The old secret is still accepted for ${flags.grace}.`,
    );
  });
}

function printIssued(output: Output, issued: IssuedToken): void {
  const { id, name, expiresAt } = issued.token;
  output.show(issued.secret);
  output.say(
    `This is the only time that the secret of ${name} (${id}) is shown. ` +
      `It ${expiresAt === null ? "never expires" : `expires ${when(expiresAt)}`}; running gateways accept it within seconds.`,
  );
  output.result(issued);
}

export async function revokeTokenCommand(id: string, flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const token = await varve.accessTokens.revoke(id);
    output.say(`The access token ${token.name} (${token.id}) is revoked. Running gateways refuse it within seconds.`);
    output.result(token);
  });
}
