import type { Environment } from "../../config/index.ts";
import type { GeneratedText } from "../generate.ts";
import type { ProgramResult } from "./process.ts";
import type { InstalledProgram } from "./program-failure.ts";

/** One request to an installed program. */
export interface ProgramCall {
  system: string;
  user: string;
  /** The program's own name of a model. Default: the program's choice. */
  model?: string;
  /** A folder for files of this call; the program runs in another, empty one. */
  folder: string;
  /** The environment that the changes are made to. */
  env: Environment;
}

/** How to start an installed program so that it only answers, and how to read its answer. */
export interface ProgramKind extends InstalledProgram {
  /** The settings of the program, for messages. */
  setting: string;
  describeRun(call: ProgramCall): {
    args: string[];
    /** Arguments that must come after those of the settings. */
    lastArgs?: string[];
    input: string;
    /** Changes to the environment; `undefined` removes a variable. */
    env?: Environment;
    /** Files to write into the folder of the call, by name. */
    files?: Readonly<Record<string, string>>;
  };
  /** Reads the answer, or throws what the program failed with. */
  readAnswer(result: ProgramResult): GeneratedText;
}
