import { VarveError } from "../../domain/index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { number, table } from "../output.ts";

export interface ForgetPersonFlags extends CommonOptions {
  dryRun?: boolean;
  yes?: boolean;
  name?: string[];
}

export async function forgetPersonCommand(id: string, flags: ForgetPersonFlags): Promise<void> {
  if (!flags.dryRun && !flags.yes) {
    throw new VarveError("REFUSED", "Erasing a person cannot be undone.", {
      remedy: "Look first with --dry-run, then run the command again with --yes.",
    });
  }
  await withVarve(flags, async (varve, output) => {
    const report = await varve.forgetPerson(id, { dryRun: flags.dryRun, names: flags.name });
    const rows = Object.entries(report.erased).map(([kind, count]) => [kind, number(count)]);
    output.show(table([report.dryRun ? "WOULD BE ERASED" : "ERASED", "COUNT"], rows));
    if (report.verification) {
      const { searched, found } = report.verification;
      output.say(`${number(searched)} erased texts were searched in the database file; ${number(found)} were found.`);
    }
    for (const file of report.backups) output.say(`Delete this copy too: ${file}`);
    for (const note of report.notes) output.say(note);
    output.result(report);
  });
}
