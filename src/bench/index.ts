export { benchContext, type ContextBench } from "./context.ts";
export { benchSpeed } from "./speed.ts";
