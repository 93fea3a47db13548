import { VarveError } from "../domain/index.ts";

/** Loads a package that is not there unless somebody wants it. What is missing is named, with how to get it. */
export async function loadPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw error;
    throw new VarveError("MISSING_PACKAGE", `The package ${name} is needed for this model and is not installed.`, {
      remedy: `Run \`npm install ${name === "ai" ? name : `ai ${name}`}\` where varve is installed.`,
      cause: error,
      details: { package: name },
    });
  }
}
