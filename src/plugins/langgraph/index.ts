/** `varve/langgraph`: a checkpointer and a store for programs that use LangGraph. */
export { type CheckpointerOptions, createCheckpointer } from "./checkpointer.ts";
export { createStore, type StoreOptions } from "./store.ts";
