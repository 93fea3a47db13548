import { z } from "@hono/zod-openapi";
import { categoryNames, trusts } from "../../index.ts";

const counts = z.record(z.string(), z.number());

export const memorySchema = z
  .object({
    id: z.string(),
    root: z.string().describe("The id of the first version."),
    version: z.number(),
    agent: z.string(),
    scope: z.string(),
    category: z.enum(categoryNames),
    abstract: z.string(),
    overview: z.string(),
    content: z.string(),
    importance: z.number(),
    confidence: z.number(),
    tier: z.enum(["core", "working", "peripheral"]),
    temporalType: z.enum(["static", "dynamic"]),
    createdAt: z.number(),
    lastAccessedAt: z.number().optional(),
    accessCount: z.number(),
    validFrom: z.number(),
    invalidatedAt: z.number().optional(),
    expiresAt: z.number().optional(),
    forgottenAt: z.number().optional(),
    tentativeUntil: z.number().optional().describe("Until when a doubtful memory waits for a confirmation."),
    supersedes: z.string().optional(),
    supersededBy: z.string().optional(),
    factKey: z.string().optional(),
    trust: z.enum(trusts),
    extractor: z.string(),
    fiction: z.boolean(),
    relations: z.array(z.object({ memory: z.string(), kind: z.string(), label: z.string() })),
    support: z.record(z.string(), z.object({ confirmed: z.number(), contradicted: z.number() })),
    sources: z.array(
      z.object({ agent: z.string(), sessionId: z.string(), seq: z.number(), start: z.number(), end: z.number() }),
    ),
  })
  .openapi("Memory");

export const appliedSchema = z.object({
  decision: z.enum(["create", "skip", "merge", "support", "contextualize", "contradict", "supersede"]),
  reason: z.string(),
  memory: z.string().optional(),
  match: z.string().optional(),
  conflicts: z.array(z.string()).optional().describe("Memories that it may be in conflict with; all are kept."),
  current: memorySchema,
});

export const hitSchema = z.object({
  memory: memorySchema,
  score: z.number(),
  relevance: z.number(),
  factor: z.number(),
  expired: z.boolean(),
  outdated: z.boolean(),
  tentative: z.boolean().describe("Whether it waits for a confirmation."),
  conflicts: z.array(z.string()).optional().describe("Memories that it may be in conflict with; they follow it."),
  notes: z.array(z.string()).optional().describe("Why its rank differs from its score."),
  stages: counts.optional().describe("Its score after every stage, with explain."),
});

export const openedSchema = z.object({
  memory: memorySchema,
  evidence: z.array(
    z.object({
      citation: z.string(),
      sessionId: z.string(),
      time: z.number(),
      role: z.string(),
      quote: z.string(),
      text: z.string(),
    }),
  ),
  missing: z.array(z.string()).describe("Messages that were deleted."),
  withheld: z.array(z.string()).describe("Messages of conversations that this token may not see."),
  worth: z.object({
    recency: z.number(),
    frequency: z.number(),
    intrinsic: z.number(),
    composite: z.number(),
    stale: z.boolean(),
  }),
  curve: z.array(z.object({ day: z.number(), worth: z.number() })),
});

export const statsSchema = z.object({
  total: z.number(),
  current: z.number(),
  history: z.number(),
  forgotten: z.number(),
  held: z.number().describe("Tentative memories, which wait for a confirmation."),
  unread: z
    .object({ conversations: z.number(), messages: z.number() })
    .describe("Imported history that was not read for memories yet."),
  byScope: counts,
  byCategory: counts,
  byTier: counts,
  byExtractor: counts,
});

export const reviewSchema = z.object({
  id: z.string(),
  scope: z.string(),
  agent: z.string(),
  state: z.string(),
  candidate: z.object({ category: z.string(), abstract: z.string(), content: z.string() }),
  score: z.number(),
  features: counts,
  memory: z.string().optional().describe("The tentative memory of a held fact."),
  createdAt: z.number(),
});
