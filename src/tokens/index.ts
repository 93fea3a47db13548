export { estimateMessageTokens, estimateTokens } from "./estimate.ts";
