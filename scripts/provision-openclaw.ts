/** Makes sure that OpenClaw is here, for the tests that read a home which the real one wrote. */
import { provisionNpmProgram, runProvisioning } from "./provision-npm-program.ts";

const title = "OpenClaw";

/** Brings OpenClaw into the clone's cache when it is not there, and gives the path of its program. */
export function provisionOpenClaw(): string {
  return provisionNpmProgram({
    title,
    package: "openclaw",
    version: "2026.9.6",
    bin: "openclaw",
    folder: "openclaw",
    resource: "openclaw",
  });
}

if (import.meta.main) runProvisioning(title, provisionOpenClaw);
