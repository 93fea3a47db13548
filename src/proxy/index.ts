export type { ProxyCounters } from "./counters.ts";
export { createProxy, type ModelProxy, type ProxyDeadlines, type ProxyOptions, type ProxyRequest } from "./proxy.ts";
export { errorFormat, type Provider } from "./routes.ts";
