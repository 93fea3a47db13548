/** `varve/openai-agents`: sessions for programs that use the OpenAI Agents SDK. */
export { type AgentSession, type AgentSessionOptions, createAgentSession } from "./session.ts";
