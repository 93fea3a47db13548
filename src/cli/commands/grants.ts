import { VarveError } from "../../domain/index.ts";
import type { Grant } from "../../index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { number, table, when } from "../output.ts";

export interface GrantFlags extends CommonOptions {
  also?: string[];
  tokens?: number;
  minutes?: number;
  limit?: number;
  all?: boolean;
}

const minuteMs = 60_000;

export async function createGrantCommand(session: string, flags: GrantFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const grant = await varve.grants.create({
      session,
      sessions: flags.also,
      tokenCap: flags.tokens,
      ttlMs: flags.minutes === undefined ? undefined : flags.minutes * minuteMs,
    });
    output.show(grant.id);
    output.say(`It opens ${describeGrant(grant)}. Use it with \`varve mcp --grant ${grant.id}\`.`);
    output.result(grant);
  });
}

function describeGrant({ conversations, tokenCap, expiresAt }: Grant): string {
  return `${number(conversations.length)} conversations for ${number(tokenCap)} tokens until ${when(expiresAt)}`;
}

export async function listGrantsCommand(flags: GrantFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const grants = await varve.grants.list({ limit: flags.limit });
    const rows = grants.map((one) => [
      one.id,
      one.state,
      one.originKey,
      `${number(one.tokensRead)} of ${number(one.tokenCap)}`,
      when(one.expiresAt),
    ]);
    output.show(
      rows.length === 0 ? "There are no grants." : table(["GRANT", "STATE", "FROM", "TOKENS", "UNTIL"], rows),
    );
    output.result(grants);
  });
}

export async function revokeGrantCommand(id: string | undefined, flags: GrantFlags): Promise<void> {
  if ((id === undefined) !== (flags.all === true)) {
    throw new VarveError("BAD_REQUEST", "Either the id of a grant or --all is needed, and not both.", {
      remedy: "Run `varve grants list` to see the ids.",
    });
  }
  await withVarve(flags, async (varve, output) => {
    const ids = id === undefined ? (await varve.grants.list({ state: "active" })).map((one) => one.id) : [id];
    const ended: Grant[] = [];
    for (const one of ids) ended.push(await varve.grants.revoke(one));
    for (const grant of ended) output.say(`The grant ${grant.id} is ${grant.state}.`);
    if (ended.length === 0) output.say("No grant is active.");
    output.result(ended);
  });
}
