export type { TurnEvent, TurnResult, TurnStatus } from "./events.ts";
export type { Attachment, Chat, Inbound } from "./inbound.ts";
export { countInbox } from "./inbox.ts";
export type { Accepted, MessageState } from "./queue.ts";
export { createTurnService, type EndedTurn, type TurnService } from "./turn-service.ts";
export { resolveWindow } from "./window.ts";
