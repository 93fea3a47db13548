/** Makes sure that pi is here, for the tests that use the real one. */
import { provisionNpmProgram, runProvisioning } from "./provision-npm-program.ts";

const title = "pi";
/** The newest version whose parts are all published. */
const version = "0.87.1";

/** Brings pi into the clone's cache when it is not there, and gives the path of its program. */
export function provisionPi(): string {
  return provisionNpmProgram({
    title,
    package: "@earendil-works/pi-coding-agent",
    version,
    bin: "pi",
    folder: "pi",
    resource: "pi",
  });
}

if (import.meta.main) runProvisioning(title, provisionPi);
