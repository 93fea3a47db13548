/** `varve/agent-sdk`: the memory for programs that use Claude's Agent SDK. */
export { type AgentOptions, type VarveAgentOptions, varveAgentOptions } from "./agent-options.ts";
export {
  createSessionStore,
  type SessionStoreOptions,
  type StoreKey,
  type VarveSessionStore,
} from "./session-store.ts";
export type { StoreEntry } from "./store-entry.ts";
