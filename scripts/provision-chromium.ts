/** Makes sure that Debian's Chromium is installed, for the tests that drive a browser. */
import { findProgram, firstLine, installPackages, ProvisionError, reasonNotInstallable } from "./debian.ts";

/** Brings Chromium here when it is not, and gives the path of its program. */
export function provisionChromium(): string {
  const found = findProgram("chromium");
  if (found !== undefined) return found;
  const reason = reasonNotInstallable();
  if (reason !== undefined) throw cannotProvision(reason);
  try {
    console.error("Installing Chromium.");
    installPackages(["chromium"]);
  } catch (error) {
    throw cannotProvision(firstLine(error));
  }
  const installed = findProgram("chromium");
  if (installed === undefined) throw cannotProvision("the package chromium left no program of that name behind");
  return installed;
}

function cannotProvision(reason: string): ProvisionError {
  return new ProvisionError("Chromium is not installed", reason, {
    "To install it, run as root": "node_modules/.bin/node scripts/provision-chromium.ts",
    "To test without it": "VARVE_TEST_SKIP=browser npm test",
  });
}

if (import.meta.main) {
  try {
    console.log(`Chromium is ready: ${provisionChromium()}`);
  } catch (error) {
    console.error(error instanceof ProvisionError ? error.message : error);
    process.exitCode = 1;
  }
}
