export type { TurnEvent, TurnResult, TurnStatus } from "./events.ts";
export type { Found, TurnHost, TurnTool, WindowFacts } from "./host.ts";
export type { Attachment, Chat, Inbound } from "./inbound.ts";
export { countInbox } from "./inbox.ts";
export { type Accepted, type MessageState, TurnQueue } from "./queue.ts";
export { resolveWindow } from "./window.ts";
