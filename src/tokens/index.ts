export { estimateMessageTokens } from "./estimate-message.ts";
export { estimateTokens } from "./estimate-text.ts";
