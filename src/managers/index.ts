export {
  AutoResponder,
  type AutoResponderSettings,
  autoResponderDefaults,
  type IncomingMessage,
} from "./auto-responder.ts";
export type { ManagerOptions } from "./engine.ts";
export { type MemoryHit, MemoryManager, type MemorySearchOptions } from "./memory-manager.ts";
export {
  type ManagedSession,
  SessionManager,
  type SessionManagerOptions,
  type TranscriptMessage,
} from "./session-manager.ts";
