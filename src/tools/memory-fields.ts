import { z } from "zod";
import type { Requester } from "../authorization/index.ts";
import { categoryNames, type Memory } from "../memory/index.ts";
import type { Session } from "../session/index.ts";
import { resolvePlace, type ToolContext } from "./context.ts";
import { choice, text } from "./fields.ts";
import type { Block } from "./output-budget.ts";
import { instantText, minuteText, name, quote } from "./quote.ts";

export const notDelegated = { delegated: "A grant opens conversations, not memories: search with lcm_grep." };

export const scope = text(300)
  .regex(
    /^(?:global|agent:\S+|user:\S+|project:\S+|custom:\S+|reflection:agent:\S+)$/,
    "must be global, agent:<id>, user:<id>, project:<id>, custom:<name> or reflection:agent:<id>",
  )
  .optional();
export const readScope = scope.describe("Only this scope: global, agent:<id>, user:<id>, project:<id>, custom:<name>.");

export const category = choice(categoryNames).optional();
export const memoryId = z.string().regex(/^mem_[0-9a-z]{19}$/, "is not the id of a memory: mem_ and 19 characters");
export const memoryText = text(20_000);
export const importance = z.number().min(0, "must be 0 to 1").max(1, "must be 0 to 1");

export const remembered = z.object({
  id: z.string(),
  version: z.number(),
  scope: z.string(),
  category: z.string(),
  abstract: z.string(),
  content: z.string(),
  importance: z.number(),
  confidence: z.number(),
  tier: z.string(),
  trust: z.string(),
  writtenBy: z.string(),
  validFrom: z.string(),
  invalidatedAt: z.string().optional(),
  expiresAt: z.string().optional(),
  supersededBy: z.string().optional(),
  evidence: z.array(z.string()).describe("Citations of the messages it rests on; lcm_describe opens them."),
  score: z.number().optional(),
  expired: z.boolean().optional(),
  tentative: z.boolean().optional().describe("true while it waits for a confirmation."),
  conflicts: z.array(z.string()).optional().describe("Memories that it may be in conflict with."),
});
export type Remembered = z.input<typeof remembered>;

const contentMax = 4_000;

type Finding = Pick<Remembered, "score" | "expired" | "conflicts">;

function toRemembered(memory: Memory, more: Finding = {}): Remembered {
  const { invalidatedAt, expiresAt, supersededBy } = memory;
  return {
    id: memory.id,
    version: memory.version,
    scope: memory.scope,
    category: memory.category,
    abstract: memory.abstract,
    content:
      memory.content.length > contentMax ? `${memory.content.slice(0, contentMax).toWellFormed()}…` : memory.content,
    importance: memory.importance,
    confidence: memory.confidence,
    tier: memory.tier,
    trust: memory.trust,
    writtenBy: memory.extractor,
    validFrom: instantText(memory.validFrom),
    ...(invalidatedAt === undefined ? {} : { invalidatedAt: instantText(invalidatedAt) }),
    ...(expiresAt === undefined ? {} : { expiresAt: instantText(expiresAt) }),
    ...(supersededBy === undefined ? {} : { supersededBy }),
    evidence: [...new Set(memory.sources.map((source) => `msg#${source.seq}`))],
    ...(memory.tentativeUntil === undefined ? {} : { tentative: true }),
    ...more,
  };
}

/** A memory as text and as a structured value. */
export function memoryBlock(memory: Memory, more: Finding = {}): Block<Remembered> {
  const value = toRemembered(memory, more);
  const facts = [
    `**${memory.id}**`,
    memory.category,
    name(memory.scope),
    `since ${minuteText(memory.validFrom)}`,
    ...(memory.invalidatedAt === undefined ? [] : [`believed until ${minuteText(memory.invalidatedAt)}`]),
    ...(more.expired ? ["expired"] : []),
    ...(memory.fiction ? ["fiction"] : []),
    ...(value.tentative ? ["tentative: not confirmed yet"] : []),
    ...(more.conflicts?.length ? [`perhaps in conflict with ${more.conflicts.join(", ")}`] : []),
    value.evidence.length === 0 ? `written by ${name(memory.extractor)}` : `from ${value.evidence.join(", ")}`,
  ];
  return { words: `- ${facts.join(" · ")}\n${quote(value.content)}`, value };
}

/** Who asks: the principal of the tools, for the agent they are bound to. */
export async function resolveRequester(context: ToolContext): Promise<Requester & { session?: Session }> {
  context.signal?.throwIfAborted();
  const { agent, session, principal } = await resolvePlace(context);
  return { principal, agent, ...(session ? { session } : {}) };
}

export function onlyScope(asked: string | undefined): { scopes?: string[] } {
  return asked === undefined ? {} : { scopes: [asked] };
}
