import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { showControls } from "../../domain/index.ts";
import type { ExportFormat } from "../../index.ts";
import { type CommonOptions, withVarve } from "../context.ts";

export interface ExportFlags extends CommonOptions {
  format: ExportFormat;
  out?: string;
}

export async function runExport(name: string, flags: ExportFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const session = await varve.sessions.find(name, flags.agent);
    const target = flags.out === undefined ? process.stdout : createWriteStream(flags.out, { mode: 0o600 });
    // A file gets every character as it is; a terminal would act on some of them.
    const isTerminal = flags.out === undefined && process.stdout.isTTY;
    let length = 0;
    for await (const piece of varve.transcripts.export(session, flags.format)) {
      length += piece.length;
      if (!target.write(isTerminal ? showControls(piece) : piece)) await once(target, "drain");
    }
    if (flags.out === undefined) return;
    target.end();
    await finished(target);
    output.say(`${session.key} was exported to ${flags.out}.`);
    output.result({ session: session.key, format: flags.format, file: flags.out, characters: length });
  });
}
