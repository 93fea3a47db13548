/** Makes sure that Mastra is here, for the tests that use the real one. */
import { provisionNpmProgram, runProvisioning } from "./provision-npm-program.ts";

const title = "Mastra";

/** Brings Mastra into the clone's cache when it is not there, and gives its folder. */
export function provisionMastra(): string {
  return provisionNpmProgram({
    title,
    package: "@mastra/core",
    version: "1.71.0",
    folder: "mastra",
    resource: "mastra",
  });
}

if (import.meta.main) runProvisioning(title, provisionMastra);
