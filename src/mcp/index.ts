export { createMcpDoor, type McpDoor } from "./http.ts";
export type { McpOptions } from "./server.ts";
export { serveOnStdio } from "./stdio.ts";
