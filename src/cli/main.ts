import { CommanderError } from "commander";
import { reportError } from "./output.ts";
import { buildProgram } from "./program.ts";

/** Exit codes are part of the interface: 0 for help, 2 for wrong usage, otherwise the code of the error. */
async function main(): Promise<void> {
  const json = process.argv.includes("--json");
  try {
    await buildProgram().parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else process.exitCode = reportError(error, json);
  }
}

// A pipe that is closed early (`varve export … | head`) is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

await main();
