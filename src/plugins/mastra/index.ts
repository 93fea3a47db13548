/** `varve/mastra`: the memory for agents of Mastra. */
export { varveTools } from "../ai-sdk/tools.ts";
export { type ProcessorOptions, type VarveProcessor, varveProcessor } from "./processor.ts";
