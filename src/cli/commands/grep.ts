import type { GrepRequest } from "../../index.ts";
import { type CommonOptions, listenForInterrupt, withVarve } from "../context.ts";
import { when } from "../output.ts";

export interface GrepFlags extends CommonOptions {
  mode?: GrepRequest["mode"];
  scope?: GrepRequest["scope"];
  sort?: GrepRequest["sort"];
  session?: string;
  since?: number;
  before?: number;
  limit?: number;
}

export async function grepCommand(pattern: string, flags: GrepFlags): Promise<void> {
  const signal = listenForInterrupt();
  await withVarve(flags, async (varve, output) => {
    const { mode, scope, sort, since, before, limit } = flags;
    const session = flags.session === undefined ? undefined : await varve.sessions.get(flags.session);
    const found = await varve.context.grep({ pattern, mode, scope, sort, since, before, limit, session, signal });
    for (const match of found.matches) {
      const who = match.role === undefined ? "" : ` ${match.role}`;
      output.show(`${match.citation} ${when(match.time)}${who}: ${match.snippet}`);
    }
    if (found.matches.length === 0) output.say("No matches.");
    if (found.cut) output.say(`\n(${found.cut})`);
    output.result(found);
  });
}
