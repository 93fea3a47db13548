/** `varve/agent-sdk`: the memory for programs that use Claude's Agent SDK. */
export type { SpeakerOptions } from "../speaker.ts";
export { type AgentOptions, type McpServerEntry, type VarveAgentOptions, varveAgentOptions } from "./agent-options.ts";
export {
  createSessionStore,
  type SessionStoreOptions,
  type StoreKey,
  type VarveSessionStore,
} from "./session-store.ts";
export type { StoreEntry } from "./store-entry.ts";
