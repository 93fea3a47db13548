import { listConfig, loadConfig, resolveHome, setConfigValue } from "../../config/index.ts";
import { toVarveError } from "../../domain/index.ts";
import type { Setup } from "../../plugins/index.ts";
import { type CommonOptions, listenForInterrupt, withVarve } from "../context.ts";
import type { Output } from "../output.ts";
import { importOnce } from "./import.ts";

/** The data that a setup brought into Varve. */
export interface FollowedUp {
  /** Settings that were taken over, and those that were not, with the reason. */
  settings: { key: string; from: string; refused?: string }[];
  imported: number;
  /** Why the history could not be imported. */
  failure?: string;
}

/** Takes over settings and imports the history that a setup found. The setup itself stays when that fails. */
export async function followUp(
  follow: NonNullable<Setup["follow"]>,
  flags: CommonOptions & { import?: boolean },
  output: Output,
): Promise<FollowedUp> {
  const settings = follow.settings.map((one) => takeSetting(resolveHome(flags), one));
  for (const { key, from, refused } of settings) {
    output.say(refused === undefined ? `${key} has the value of ${from}.` : `${from} was not taken over: ${refused}`);
  }
  if (flags.import === false || follow.importPaths.length === 0) return { settings, imported: 0 };
  try {
    const { imported } = await withVarve(flags, (varve) =>
      importOnce(varve, follow.importPaths, { agent: flags.agent, signal: listenForInterrupt() }, output),
    );
    return { settings, imported };
  } catch (error) {
    const { message, remedy } = toVarveError(error);
    const failure = remedy === undefined ? message : `${message} ${remedy}`;
    output.say(
      `The history was not imported completely: ${failure}\n` +
        `Run \`varve import ${follow.importPaths.join(" ")}\` to continue.`,
    );
    return { settings, imported: 0, failure };
  }
}

/** A setting that the person set in Varve stays as it is. */
function takeSetting(home: string, { key, value, from }: { key: string; value: string; from: string }) {
  const known = listConfig(loadConfig({ home })).find((row) => row.key === key);
  if (known !== undefined && known.source !== "default") {
    return { key, from, refused: `${key} is set already (${known.source}).` };
  }
  try {
    setConfigValue(home, key, value);
    return { key, from };
  } catch (error) {
    return { key, from, refused: error instanceof Error ? error.message : String(error) };
  }
}
