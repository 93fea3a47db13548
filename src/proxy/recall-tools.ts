import { z } from "zod";
import { hasRight, owner, type Principal } from "../authorization/index.ts";
import { isJsonObject, type JsonObject, toVarveError } from "../domain/index.ts";
import { estimateTokens, type Session, type Varve } from "../engine.ts";
import { type BoundTool, openToolbox } from "../tools/index.ts";
import type { AnsweredCall, Call, OfferedTool } from "./wire.ts";

/** What opens the conversation itself. */
const ofConversation = new Set(["lcm_grep", "lcm_describe", "lcm_expand_query"]);
/** What reaches beyond it, for those who may read the rest too. */
const beyond = new Set(["memory_search", "memory_recall"]);
const reachFields = ["conversationId", "allConversations"];

const schemas = new Map<string, JsonObject>();

/** The tools a model is offered. They are the same for all of a conversation, because a change costs the provider's cache. */
export function offeredTools(
  varve: Varve,
  principal: Principal | undefined,
  taken: ReadonlySet<string>,
): readonly OfferedTool[] {
  return openToolbox(varve, { readOnly: true })
    .tools.filter(({ name }) => isOffered(name, principal) && !taken.has(name))
    .map((tool) => ({ name: tool.name, description: tool.description, schema: schemaOf(tool) }));
}

function isOffered(name: string, principal: Principal | undefined): boolean {
  return ofConversation.has(name) || (principal !== undefined && hasRight(principal, "read") && beyond.has(name));
}

function schemaOf(tool: BoundTool): JsonObject {
  let schema = schemas.get(tool.name);
  if (schema === undefined) {
    const { $schema: _, ...whole } = z.toJSONSchema(tool.input, { io: "input" }) as JsonObject;
    schema = ofConversation.has(tool.name) ? withoutReach(whole) : whole;
    schemas.set(tool.name, schema);
  }
  return schema;
}

/** Which conversation is meant is not for the model to say. */
function withoutReach(schema: JsonObject): JsonObject {
  if (!isJsonObject(schema.properties)) return schema;
  const properties = Object.fromEntries(
    Object.entries(schema.properties).filter(([name]) => !reachFields.includes(name)),
  );
  return { ...schema, type: "object", properties };
}

export interface RecallSetting {
  varve: Varve;
  session: Session;
  principal: Principal | undefined;
  signal: AbortSignal;
  onFailure(error: unknown): void;
}

/** Answers calls, each with no more than its share of the room there is. */
export async function answerCalls(
  setting: RecallSetting,
  calls: readonly Call[],
  roomTokens: number,
): Promise<AnsweredCall[]> {
  const answered: AnsweredCall[] = [];
  for (const call of calls) {
    const share = Math.floor(roomTokens / calls.length);
    const { output, isError } = await answer(setting, call);
    answered.push({ ...call, output: within(output, share), isError });
  }
  return answered;
}

async function answer(setting: RecallSetting, call: Call): Promise<{ output: string; isError: boolean }> {
  const { varve, session, principal, signal } = setting;
  const bound = { ...(principal ?? owner), agents: [session.agent] };
  const box = openToolbox(varve, { session, agent: session.agent, principal: bound, readOnly: true });
  const tool = isOffered(call.name, principal) ? box.find(call.name) : undefined;
  if (!tool) return { output: `There is no tool ${call.name}.`, isError: true };
  try {
    return { output: (await tool.run(inputOf(call, session), { signal })).markdown, isError: false };
  } catch (error) {
    const known = toVarveError(error);
    if (known.code === "INTERNAL" || known.kind === "failed") setting.onFailure(error);
    const said = known.code === "INTERNAL" ? `${call.name} failed. Go on without it.` : known.message;
    return { output: [said, known.remedy].filter(Boolean).join(" "), isError: true };
  }
}

function inputOf({ name, input }: Call, session: Session): unknown {
  if (!isJsonObject(input) || !ofConversation.has(name)) return input;
  const { conversationId: _one, allConversations: _all, ...asked } = input;
  return { ...asked, conversationId: String(session.conversation) };
}

function within(text: string, tokens: number): string {
  const estimated = estimateTokens(text);
  if (estimated <= tokens) return text;
  const note = "\n[Cut here: there is no room for more. Ask for less at a time.]";
  const length = Math.floor((text.length * Math.max(0, tokens - 20)) / estimated);
  return `${text.slice(0, length).toWellFormed()}${note}`;
}
