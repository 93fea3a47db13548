import { CommanderError } from "commander";
import { reportError } from "./output.ts";
import { buildProgram } from "./program.ts";

/** The exit codes are a contract: wrong usage is 2, help is 0, everything else is what the error says. */
async function main(): Promise<void> {
  const json = process.argv.includes("--json");
  try {
    await buildProgram().parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else process.exitCode = reportError(error, json);
  }
}

// A reader that closes early (`varve export … | head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

await main();
