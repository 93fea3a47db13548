import { z } from "zod";
import { hasRight, owner, type Principal } from "../authorization/index.ts";
import { isJsonObject, type JsonObject, toVarveError } from "../domain/index.ts";
import { estimateTokens, type Session, type Varve } from "../index.ts";
import { type BoundTool, openToolbox } from "../tools/index.ts";
import type { AnsweredCall, Call, OfferedTool } from "./wire.ts";

/** Tools that read the conversation itself. */
const conversationTools = new Set(["lcm_grep", "lcm_describe", "lcm_expand_query"]);
/** Tools that read other conversations and memories; they need the right read. */
const memoryTools = new Set(["memory_search", "memory_recall"]);
const scopeFields = ["conversationId", "allConversations"];

const schemas = new Map<string, JsonObject>();

/** Lists the tools that a model is offered. They stay the same for a conversation, which keeps the provider's prompt cache. */
export function listOfferedTools(
  varve: Varve,
  principal: Principal | undefined,
  taken: ReadonlySet<string>,
): readonly OfferedTool[] {
  return openToolbox(varve, { readOnly: true })
    .tools.filter(({ name }) => isOffered(name, principal) && !taken.has(name))
    .map((tool) => ({ name: tool.name, description: tool.description, schema: getInputSchema(tool) }));
}

function isOffered(name: string, principal: Principal | undefined): boolean {
  return (
    conversationTools.has(name) || (principal !== undefined && hasRight(principal, "read") && memoryTools.has(name))
  );
}

function getInputSchema(tool: BoundTool): JsonObject {
  let schema = schemas.get(tool.name);
  if (schema === undefined) {
    const { $schema: _, ...whole } = z.toJSONSchema(tool.input, { io: "input" }) as JsonObject;
    schema = conversationTools.has(tool.name) ? removeScopeFields(whole) : whole;
    schemas.set(tool.name, schema);
  }
  return schema;
}

/** The model may not choose the conversation. */
function removeScopeFields(schema: JsonObject): JsonObject {
  if (!isJsonObject(schema.properties)) return schema;
  const properties = Object.fromEntries(
    Object.entries(schema.properties).filter(([name]) => !scopeFields.includes(name)),
  );
  return { ...schema, type: "object", properties };
}

export interface RecallOptions {
  varve: Varve;
  session: Session;
  principal: Principal | undefined;
  signal: AbortSignal;
  onFailure(error: unknown): void;
}

/** Answers calls, each with at most its share of the token budget. */
export async function answerCalls(
  setting: RecallOptions,
  calls: readonly Call[],
  budgetTokens: number,
): Promise<AnsweredCall[]> {
  const answered: AnsweredCall[] = [];
  for (const call of calls) {
    const share = Math.floor(budgetTokens / calls.length);
    const { output, isError } = await answerCall(setting, call);
    answered.push({ ...call, output: cutToTokens(output, share), isError });
  }
  return answered;
}

async function answerCall(setting: RecallOptions, call: Call): Promise<{ output: string; isError: boolean }> {
  const { varve, session, principal, signal } = setting;
  const bound = { ...(principal ?? owner), agents: [session.agent] };
  const box = openToolbox(varve, { session, agent: session.agent, principal: bound, readOnly: true });
  const tool = isOffered(call.name, principal) ? box.find(call.name) : undefined;
  if (!tool) return { output: `There is no tool ${call.name}.`, isError: true };
  try {
    return { output: (await tool.run(bindInput(call, session), { signal })).markdown, isError: false };
  } catch (error) {
    const known = toVarveError(error);
    if (known.code === "INTERNAL" || known.kind === "failed") setting.onFailure(error);
    const message = known.code === "INTERNAL" ? `${call.name} failed. Continue without it.` : known.message;
    return { output: [message, known.remedy].filter(Boolean).join(" "), isError: true };
  }
}

function bindInput({ name, input }: Call, session: Session): unknown {
  if (!isJsonObject(input) || !conversationTools.has(name)) return input;
  const { conversationId: _one, allConversations: _all, ...asked } = input;
  return { ...asked, conversationId: String(session.conversation) };
}

function cutToTokens(text: string, tokens: number): string {
  const estimated = estimateTokens(text);
  if (estimated <= tokens) return text;
  const note = "\n[Truncated: the context window has no space for more. Request less at a time.]";
  const length = Math.floor((text.length * Math.max(0, tokens - 20)) / estimated);
  return `${text.slice(0, length).toWellFormed()}${note}`;
}
