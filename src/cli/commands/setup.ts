import { homedir } from "node:os";
import { confirm, isCancel } from "@clack/prompts";
import { resolveHome } from "../../config/index.ts";
import { VarveError } from "../../domain/index.ts";
import { planSetup, printDiff, type Setup, type SetupName } from "../../plugins/index.ts";
import type { CommonOptions } from "../context.ts";
import { type Output, outputFor } from "../output.ts";
import { followUp } from "./setup-follow-up.ts";

export interface SetupFlags extends CommonOptions {
  print?: boolean;
  remove?: boolean;
  yes?: boolean;
  from?: string;
  import?: boolean;
}

/** Shows the changes to another program's configuration, asks for confirmation, and makes them. */
export async function setupCommand(name: SetupName, flags: SetupFlags): Promise<void> {
  const output = outputFor(flags);
  const remove = flags.remove ?? false;
  const setting = {
    userHome: homedir(),
    env: process.env,
    platform: process.platform,
    home: resolveHome({ home: flags.home }),
    flags: callFlags(flags),
    ...(flags.from === undefined ? {} : { from: flags.from }),
  };
  if (flags.from !== undefined && (name !== "openclaw" || remove)) {
    throw new VarveError("BAD_REQUEST", "--from is for `varve setup openclaw`, and not for a removal.", {
      remedy: "Leave it out.",
    });
  }
  const setup = planSetup(name, setting, remove);
  const paths = setup.changes.map((change) => change.path);
  if (setup.changes.length === 0) {
    output.say(remove ? `Varve is not set up in ${setup.label}.` : `Varve is already set up in ${setup.label}.`);
    return output.result({ target: name, changed: [], backups: [] });
  }
  const diff = printDiff(setup.changes);
  if (flags.print) {
    output.show(diff);
    return output.result({ target: name, changed: [], backups: [], wouldChange: paths, diff });
  }
  output.say(diff);
  if (!flags.yes) await confirmChanges(setup, remove);
  const backups = setup.apply(Date.now());
  printOutcome(output, setup, backups, remove);
  const followed = setup.follow && !remove ? await followUp(setup.follow, flags, output) : undefined;
  output.result({ target: name, changed: paths, backups, ...(followed === undefined ? {} : { followed }) });
}

async function confirmChanges({ label }: Setup, remove: boolean): Promise<void> {
  const isTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);
  if (!isTerminal) {
    throw new VarveError("REFUSED", "Nothing was changed: confirmation needs a terminal, and there is none.", {
      remedy: "Check the changes above and run the same command with --yes.",
    });
  }
  const message = remove ? `Remove Varve from ${label}?` : `Set up Varve in ${label}?`;
  const answer = await confirm({ message });
  if (isCancel(answer) || !answer) throw new VarveError("REFUSED", "Nothing was changed.");
}

function printOutcome(output: Output, setup: Setup, backups: string[], remove: boolean): void {
  const lines = [
    `\n${remove ? `Varve was removed from ${setup.label}` : `Varve is set up in ${setup.label}`}.`,
    ...backups.map((path) => `The previous file is kept as ${path}`),
    ...setup.notes,
  ];
  output.say(lines.join("\n"));
}

/** The flags for the commands that setup writes, so that they use the same home, database and agent as this one. */
function callFlags({ home, database, agent }: SetupFlags): string[] {
  return [
    ...(home === undefined ? [] : ["--home", resolveHome({ home })]),
    ...(database === undefined ? [] : ["--database", database]),
    ...(agent === undefined ? [] : ["--agent", agent]),
  ];
}
