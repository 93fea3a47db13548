import { homedir } from "node:os";
import { confirm, isCancel } from "@clack/prompts";
import { resolveHome } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import { planSetup, printDiff, type Setup, type SetupName } from "../../plugins/index.ts";
import type { CommonOptions } from "../context.ts";
import { type Output, outputFor } from "../output.ts";

export interface SetupFlags extends CommonOptions {
  print?: boolean;
  remove?: boolean;
  yes?: boolean;
}

/** Shows what it would change in another program's configuration, asks, and does it. */
export async function setupCommand(name: SetupName, flags: SetupFlags): Promise<void> {
  const output = outputFor(flags);
  const remove = flags.remove ?? false;
  const setting = {
    userHome: homedir(),
    env: process.env,
    platform: process.platform,
    home: resolveHome({ home: flags.home }),
    flags: callFlags(flags),
  };
  const setup = planSetup(name, setting, remove);
  const paths = setup.changes.map((change) => change.path);
  if (setup.changes.length === 0) {
    output.say(remove ? `Varve is not set up in ${setup.label}.` : `Varve is set up in ${setup.label} already.`);
    return output.result({ target: name, changed: [], backups: [] });
  }
  const diff = printDiff(setup.changes);
  if (flags.print) {
    output.show(diff);
    return output.result({ target: name, changed: [], backups: [], wouldChange: paths, diff });
  }
  output.say(diff);
  if (!flags.yes) await ask(setup, remove);
  const backups = setup.apply(Date.now());
  sayDone(output, setup, backups, remove);
  output.result({ target: name, changed: paths, backups });
}

async function ask({ label }: Setup, remove: boolean): Promise<void> {
  const isTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);
  if (!isTerminal) {
    throw new VarveError("REFUSED", "Nothing was changed: there is no terminal to ask at.", {
      remedy: "Look at the changes above and run the same command with --yes.",
    });
  }
  const message = remove ? `Take Varve out of ${label}?` : `Set Varve up in ${label}?`;
  const answer = await confirm({ message });
  if (isCancel(answer) || !answer) throw new VarveError("REFUSED", "Nothing was changed.");
}

function sayDone(output: Output, setup: Setup, backups: string[], remove: boolean): void {
  const lines = [
    `\n${remove ? `Varve is taken out of ${setup.label}` : `Varve is set up in ${setup.label}`}.`,
    ...backups.map((path) => `What was there before is kept at ${path}`),
    ...setup.notes,
  ];
  output.say(lines.join("\n"));
}

/** What the calls that are written need, so that they mean the same memory as this command. */
function callFlags({ home, database, agent }: SetupFlags): string[] {
  return [
    ...(home === undefined ? [] : ["--home", resolveHome({ home })]),
    ...(database === undefined ? [] : ["--database", database]),
    ...(agent === undefined ? [] : ["--agent", agent]),
  ];
}
