import { z } from "zod";
import { hasRight, owner } from "../authorization/index.ts";
import { toVarveError, VarveError } from "../domain/index.ts";
import { noSession, resolveSetting, type ToolContext, type ToolOptions, type ToolServices } from "./context.ts";
import { lcmDescribe } from "./lcm-describe.ts";
import { lcmExpand } from "./lcm-expand.ts";
import { lcmExpandQuery } from "./lcm-expand-query.ts";
import { lcmGrep } from "./lcm-grep.ts";
import { memoryForget } from "./memory-forget.ts";
import { memoryGet } from "./memory-get.ts";
import { memoryList, memoryStats } from "./memory-list.ts";
import { memoryRecall } from "./memory-recall.ts";
import { memorySearch } from "./memory-search.ts";
import { memoryStore } from "./memory-store.ts";
import { memoryUpdate } from "./memory-update.ts";
import { sessionList } from "./session-list.ts";
import { sessionStatus } from "./session-status.ts";
import type { Tool, ToolResult } from "./tool.ts";

/** All tools, in the order they are offered. */
export const allTools: readonly Tool[] = [
  lcmGrep,
  lcmDescribe,
  lcmExpand,
  lcmExpandQuery,
  memorySearch,
  memoryGet,
  memoryRecall,
  memoryStore,
  memoryUpdate,
  memoryForget,
  memoryList,
  memoryStats,
  sessionList,
  sessionStatus,
];

/** A tool bound to its context: it only needs the input of a model. */
export interface BoundTool extends Omit<Tool, "run" | "notIn" | "rights"> {
  run(input: unknown, options?: { signal?: AbortSignal }): Promise<ToolResult>;
}

export interface Toolbox {
  /** The tools that are offered here. */
  readonly tools: readonly BoundTool[];
  /** Any tool by its name. One that is not offered here throws an error that names the alternative. */
  find(name: string): BoundTool | undefined;
}

/** The tools for one setting: open, in a session, or delegated with a grant. */
export function openToolbox(services: ToolServices, options: ToolOptions = {}): Toolbox {
  if (options.grant !== undefined && options.session !== undefined) {
    throw new VarveError("BAD_REQUEST", "A delegated reader works under its grant, not in a session.", {
      remedy: "Give either a session or a grant.",
    });
  }
  const bound = allTools.map((tool) => bind(tool, { ...options, services }));
  const offered = new Set(
    allTools.filter((tool) => findAlternative(tool, options) === undefined).map((tool) => tool.name),
  );
  return {
    tools: bound.filter((tool) => offered.has(tool.name)),
    find: (name) => bound.find((tool) => tool.name === name),
  };
}

/** Why a tool is not offered here, with what to do instead; undefined when it is. */
function findAlternative({ notIn, rights }: Tool, options: ToolOptions): string | undefined {
  const instead = notIn[resolveSetting(options)];
  if (instead !== undefined) return instead;
  if (options.readOnly && rights.some((right) => right !== "read")) return "Only reading is allowed here.";
  const missing = rights.find((right) => !hasRight(options.principal ?? owner, right));
  return missing === undefined ? undefined : `It needs the right ${missing}.`;
}

function bind(tool: Tool, context: ToolContext): BoundTool {
  const { run, notIn: _, rights: _rights, ...definition } = tool;
  const instead = findAlternative(tool, context);
  return {
    ...definition,
    async run(input, { signal } = {}) {
      if (instead !== undefined) {
        throw new VarveError("REFUSED", `${tool.name} is not offered here.`, { remedy: instead });
      }
      try {
        return (await run({ ...context, signal }, parseInput(tool, input))) as ToolResult;
      } catch (error) {
        // A caller may cancel with any reason; whatever was thrown because of it is a cancellation.
        if (signal?.aborted) throw new VarveError("ABORTED", `${tool.name} was cancelled.`, { cause: error });
        throw forModels(toVarveError(error));
      }
    },
  };
}

/** A model cannot run the command that a remedy names for people. */
function forModels(error: VarveError): VarveError {
  return error.code === "SESSION_NOT_FOUND" ? noSession(error.message, error) : error;
}

const shownMax = 120;

/** Parses the input of a tool, or throws one error that names every fault and what to send instead. */
function parseInput<T extends Pick<Tool, "name" | "input">>(tool: T, input: unknown): unknown {
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
