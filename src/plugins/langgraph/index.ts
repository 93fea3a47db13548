/** `varve/langgraph`: a checkpointer and a store for programs that use LangGraph. */
export type { SpeakerOptions } from "../speaker.ts";
export type { ReadPeer } from "./checkpoint-store.ts";
export { type CheckpointerOptions, createCheckpointer } from "./checkpointer.ts";
export { createStore, type StoreOptions } from "./store.ts";
