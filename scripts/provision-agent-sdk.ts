/** Makes sure that Claude's Agent SDK is here, for the tests that use the real one. */
import { provisionNpmProgram, runProvisioning } from "./provision-npm-program.ts";

const title = "Claude's Agent SDK";
const version = "0.3.326";

/** Brings Claude's Agent SDK into the clone's cache when it is not there, and gives its folder. */
export function provisionAgentSdk(): string {
  return provisionNpmProgram({
    title,
    package: "@anthropic-ai/claude-agent-sdk",
    version,
    // It starts the Claude Code of the tests, not one of its own.
    withoutOptional: true,
    folder: "agent-sdk",
    resource: "agent-sdk",
  });
}

if (import.meta.main) runProvisioning(title, provisionAgentSdk);
