/** Which parts of `npm test` run: chosen by `--only`, left out by name with `VARVE_TEST_SKIP`. */

export const partNames = ["lint", "types", "package", "unit", "conformance", "crash", "hostile", "e2e"] as const;
export type PartName = (typeof partNames)[number];

/** Resources that tests use and a machine may not have. */
const resourceNames = [
  "postgres",
  "browser",
  "claude",
  "codex",
  "openclaw",
  "pi",
  "agent-sdk",
  "langgraph",
  "mastra",
] as const;
export type ResourceName = (typeof resourceNames)[number];

export interface Selection {
  parts: PartName[];
  /** Left out on request: named in the closing lines, so that nobody takes a part of the tests for all of them. */
  skippedParts: PartName[];
  skippedResources: ResourceName[];
}

/** Throws with a sentence that says what is allowed. */
export function selectParts(args: readonly string[], skip: string | undefined): Selection {
  const only = readOnly(args);
  const skipped = split(skip).map((name) => oneOf([...partNames, ...resourceNames], name, "VARVE_TEST_SKIP"));
  const wanted = partNames.filter((part) => only === undefined || only.includes(part));
  return {
    parts: wanted.filter((part) => !skipped.includes(part)),
    skippedParts: wanted.filter((part) => skipped.includes(part)),
    skippedResources: resourceNames.filter((resource) => skipped.includes(resource)),
  };
}

function readOnly(args: readonly string[]): PartName[] | undefined {
  if (args.length === 0) return undefined;
  const [first = "", second, ...rest] = args;
  const joined = /^--only=(.*)$/.exec(first)?.[1];
  const list = joined ?? (first === "--only" ? second : undefined);
  const surplus = joined === undefined ? rest : args.slice(1);
  if (list === undefined || surplus.length > 0) {
    throw new Error(`I know only \`--only PART,PART\`, with the parts ${partNames.join(", ")}; got: ${args.join(" ")}`);
  }
  const names = split(list);
  if (names.length === 0) throw new Error(`--only needs a part: one or more of ${partNames.join(", ")}.`);
  return names.map((name) => oneOf(partNames, name, "--only"));
}

function oneOf<Name extends string>(names: readonly Name[], given: string, where: string): Name {
  const found = names.find((name) => name === given);
  if (found === undefined) throw new Error(`${where} names "${given}"; it can name ${names.join(", ")}.`);
  return found;
}

function split(list: string | undefined): string[] {
  return (list ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
