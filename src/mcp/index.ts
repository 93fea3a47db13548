export { createMcpEndpoint, type McpEndpoint } from "./http.ts";
export type { McpOptions } from "./server.ts";
export { serveOnStdio } from "./stdio.ts";
