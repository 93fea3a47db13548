/** Schemas that several routes share. */
import { z } from "@hono/zod-openapi";
import { keyLengthMax, VarveError } from "../domain/index.ts";

/** A strict object whose error for an unknown field lists the known ones. */
export function fields<S extends z.ZodRawShape>(shape: S) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has no field ${(issue.keys as string[]).map((key) => JSON.stringify(key.slice(0, 80))).join(", ")}; ` +
          `its fields are ${Object.keys(shape).join(", ")}`
        : undefined,
  });
}

/** Text that both store engines can hold: no NUL, no lone surrogates. */
export function text(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !value.includes("\u0000") && value.isWellFormed(), {
      error: "must contain no NUL and no lone surrogates",
    });
}

const depthMax = 200;

/** Deeply nested values would overflow the stack of recursive code. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}

/** Checked without a visit of each field, which takes long for very many. */
export const jsonObject = z
  .custom<Record<string, unknown>>((value) => typeof value === "object" && value !== null && !Array.isArray(value), {
    error: "must be an object",
  })
  .openapi({ type: "object", additionalProperties: {} })
  .refine((value) => !isTooDeep(value), { error: `must not be nested deeper than ${depthMax} levels` });

export const limitQuery = z.coerce.number().int().min(1).max(1000).optional().openapi({
  description: "The maximum number of results, 1 to 1000; default: 50.",
});

/** Accepts a date or milliseconds since 1970; gives milliseconds. */
export const timeQuery = z
  .string()
  .refine((value) => /^\d{10,}$/.test(value) || !Number.isNaN(Date.parse(value)), {
    error: "must be a date such as 2026-05-01, or milliseconds since 1970",
  })
  .transform((value) => (/^\d{10,}$/.test(value) ? Number(value) : Date.parse(value)))
  .optional();

export const agentQuery = text(128)
  .transform((agent) => agent.toLowerCase())
  .optional()
  .openapi({ description: "The agent; default: the one of the settings." });

export const sessionParam = z.object({
  key: text(keyLengthMax).openapi({
    description: "The session's key (URL-encoded), its session id, or an unambiguous start of one.",
    example: "agent:main:main",
  }),
});

export const errorSchema = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      remedy: z.string().optional(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .openapi("Error");

/** Throws one error that names every invalid field of a request. */
export function refuseInvalid(result: { target: string; success: boolean; error?: unknown }): void {
  if (result.success) return;
  const { issues } = result.error as z.ZodError;
  const faults = issues.slice(0, 20).map((issue) => ({
    field: fieldName(result.target, issue.path),
    problem: issue.message.slice(0, 500),
  }));
  const [first] = faults;
  throw new VarveError("BAD_REQUEST", faults.map(({ field, problem }) => `${field}: ${problem}.`).join(" "), {
    remedy: `Correct ${first?.field ?? "the request"} and send it again; /api/openapi.json describes the expected form.`,
    details: { faults, more: Math.max(0, issues.length - faults.length) },
  });
}

const targetNames: Readonly<Record<string, string>> = { json: "body", param: "path" };

function fieldName(target: string, path: readonly PropertyKey[]): string {
  const start = targetNames[target] ?? target;
  return path.reduce<string>(
    (name, part) => (typeof part === "number" ? `${name}[${part}]` : `${name}.${String(part)}`),
    start,
  );
}
