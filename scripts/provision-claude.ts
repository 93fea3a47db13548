/** Makes sure that Claude Code is here, for the tests that drive the real one. */
import { provisionNpmProgram, runProvisioning } from "./provision-npm-program.ts";

const title = "Claude Code";

/** Brings Claude Code into the clone's cache when it is not there, and gives the path of its program. */
export function provisionClaude(): string {
  return provisionNpmProgram({
    title,
    package: "@anthropic-ai/claude-code",
    version: "2.1.325",
    bin: "claude",
    folder: "claude-code",
    installScript: "install.cjs",
    resource: "claude",
  });
}

if (import.meta.main) runProvisioning(title, provisionClaude);
