/** Makes sure that Codex is here, for the tests that drive the real one. */
import { provisionNpmProgram, runProvisioning } from "./provision-npm-program.ts";

const title = "Codex";

/** Brings Codex into the clone's cache when it is not there, and gives the path of its program. */
export function provisionCodex(): string {
  return provisionNpmProgram({
    title,
    package: "@openai/codex",
    version: "0.166.0",
    bin: "codex",
    folder: "codex",
    resource: "codex",
  });
}

if (import.meta.main) runProvisioning(title, provisionCodex);
