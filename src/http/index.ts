export type { GatewayLogRecord } from "./context.ts";
export type { GatewayEvent, GatewayEventType } from "./events.ts";
export { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";
