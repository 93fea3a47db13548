export { benchContext, type ContextBench } from "./context.ts";
export { benchRecall, type RecallBench } from "./recall.ts";
export { benchSpeed } from "./speed.ts";
