/** An installed program of a test: a script that notes how it was called and answers as Claude Code does. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ScriptedCall {
  args: string[];
  input: string;
  cwd: string;
  /** The files of its working folder. */
  files: string[];
  env: Record<string, string | undefined>;
  /** The file that `model_instructions_file` names. */
  instructions?: string;
}

export interface ScriptedProgram {
  /** The path of the program. */
  program: string;
  folder: string;
  /** Every call, the oldest first. */
  readCalls(): ScriptedCall[];
  remove(): void;
}

/**
 * Writes a program whose body sees `args`, `input`, `folder`, `answer(text, fields)`, which writes the JSON of Claude
 * Code, and `writeLine(value)`, which writes a line of JSON.
 */
export function writeScriptedProgram(body: string): ScriptedProgram {
  const folder = mkdtempSync(join(tmpdir(), "varve-scripted-"));
  const program = join(folder, "program.cjs");
  const log = join(folder, "calls.jsonl");
  writeFileSync(
    program,
    `#!${process.execPath}
const fs = require("node:fs");
const args = process.argv.slice(2);
const folder = ${JSON.stringify(folder)};
const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 7, cache_creation_input_tokens: 3 };
const writeLine = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
const answer = (text, fields) =>
  writeLine({ type: "result", subtype: "success", is_error: false, num_turns: 1, result: text, usage, ...fields });
let input = "";
process.stdin.setEncoding("utf8").on("data", (text) => { input += text; }).on("end", () => {
  const file = args.map((arg) => /^model_instructions_file="(.*)"$/.exec(arg)?.[1]).find(Boolean);
  const instructions = file && fs.readFileSync(file, "utf8");
  const call = { args, input, cwd: process.cwd(), files: fs.readdirSync("."), env: process.env, instructions };
  fs.appendFileSync(${JSON.stringify(log)}, JSON.stringify(call) + "\\n");
  ${body}
});
`,
    { mode: 0o755 },
  );
  return {
    program,
    folder,
    readCalls: () =>
      existsSync(log)
        ? readFileSync(log, "utf8")
            .split("\n")
            // The last line may still be written.
            .slice(0, -1)
            .map((line) => JSON.parse(line) as ScriptedCall)
        : [],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
