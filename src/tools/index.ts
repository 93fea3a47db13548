export { describeCompactly } from "./compact-tools.ts";
export type { ToolOptions } from "./context.ts";
export type { ToolAnnotations, ToolResult } from "./tool.ts";
export { allTools, type BoundTool, openToolbox, type Toolbox } from "./toolbox.ts";
