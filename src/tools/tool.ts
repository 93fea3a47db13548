import type { z } from "zod";
import type { Right } from "../authorization/index.ts";
import type { ToolContext, ToolSetting } from "./context.ts";

/** The result of a tool: text with citations for a model, and the same as values for a program. */
export interface ToolResult<T = Record<string, unknown>> {
  markdown: string;
  structured: T;
}

export interface ToolAnnotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

/** A tool as every surface offers it: defined once, run in a context. */
export interface Tool<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  name: string;
  title: string;
  /** Written for a model: when to use it, and what comes back. */
  description: string;
  input: I;
  output: O;
  annotations: ToolAnnotations;
  /** The rights that a caller needs. Every tool returns content, so every tool needs `read`. */
  rights: readonly Right[];
  /** The settings where it is not offered, with what to use there instead. */
  notIn: Partial<Record<ToolSetting, string>>;
  run(context: ToolContext, input: z.output<I>): Promise<ToolResult<z.input<O>>>;
}

export const readOnly: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** For tools that write memories: they change data, but destroy none. */
export const writes: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};

/** Checks the types of a definition, then widens it to the common type of all tools. */
export function defineTool<I extends z.ZodType, O extends z.ZodType>(tool: Tool<I, O>): Tool {
  return tool as unknown as Tool;
}
