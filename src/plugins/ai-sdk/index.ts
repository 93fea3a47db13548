/** `varve/ai-sdk`: the memory for programs that use the AI SDK, versions 6 and 7. */
export type { SentHistory } from "../host-history/history-recorder.ts";
export { type VarveMiddlewareOptions, varveMiddleware } from "./middleware.ts";
export { type PrepareStepOptions, varvePrepareStep } from "./prepare-step.ts";
export type { VarveMiddleware } from "./sdk-types.ts";
export { type VarveTool, type VarveToolsOptions, varveTools } from "./tools.ts";
