import { z } from "zod";
import { VarveError } from "../domain/index.ts";
import type { Tool } from "./tool.ts";

const shownMax = 120;

/** Parses the input of a tool, or throws one error that names every fault and what to send instead. */
export function parseInput<T extends Pick<Tool, "name" | "input">>(tool: T, input: unknown): unknown {
  const parsed = tool.input.safeParse(input ?? {});
  if (parsed.success) return parsed.data;
  const fields = listFields(tool.input);
  const { issues } = parsed.error;
  const faults = issues.map((issue) => describeFault(tool.name, issue, input));
  const named = [...new Set(issues.map((issue) => String(issue.path[0] ?? "")))].filter((field) => field in fields);
  const hints = named.map((field) => `${field}: ${fields[field] ?? ""}`);
  const remedy =
    hints.length > 0 ? `Send ${hints.join(" Send ")}` : `Its parameters are ${Object.keys(fields).join(", ")}.`;
  throw new VarveError("BAD_REQUEST", faults.join(" "), { remedy });
}

function describeFault(tool: string, issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.code === "unrecognized_keys") {
    return `${tool} has no parameter ${issue.keys.map((key) => JSON.stringify(key.slice(0, shownMax))).join(", ")}.`;
  }
  const [field, ...inner] = issue.path;
  if (field === undefined) return `${tool} takes an object of named parameters, not ${shown(input)}.`;
  const given = issue.path.reduce<unknown>(
    (value, step) => (value as Record<PropertyKey, unknown> | undefined)?.[step],
    input,
  );
  const place = [String(field), ...inner.map((step) => `[${String(step)}]`)].join("");
  if (given === undefined && issue.code !== "custom") return `${place} is missing.`;
  return issue.code === "custom" && inner.length === 0 && issue.params?.whole === true
    ? `${issue.message}.`
    : `${place} ${shown(given)}: ${issue.message}.`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}

/** Each parameter with its description. */
function listFields(schema: z.ZodType): Record<string, string> {
  if (!(schema instanceof z.ZodObject)) return {};
  return Object.fromEntries(
    Object.entries(schema.shape as Record<string, z.ZodType>).map(([field, type]) => [field, type.description ?? ""]),
  );
}
