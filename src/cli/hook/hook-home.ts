import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The same result as `resolveHome` of the settings, whose module takes too long to load in a hook. */
export function resolveHookHome(given: string | undefined): string {
  const home = given ?? (process.env.VARVE_HOME || join(homedir(), ".varve"));
  return resolve(home.replace(/^~(?=$|[\\/])/, homedir()));
}
