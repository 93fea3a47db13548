import type { JsonObject } from "../../domain/index.ts";
import type { SessionTable } from "../../store/index.ts";

type Column = keyof SessionTable;

/** The fields of an OpenClaw session with a column of the same meaning. */
const textColumns: Readonly<Record<string, Column>> = {
  thinkingLevel: "thinking_level",
  verboseLevel: "verbose_level",
  reasoningLevel: "reasoning_level",
  elevatedLevel: "elevated_level",
  providerOverride: "provider_override",
  modelOverride: "model_override",
  authProfileOverride: "auth_profile_override",
  subject: "subject",
  groupChannel: "room",
  space: "space",
};
const numberColumns: Readonly<Record<string, Column>> = {
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
  // What is in the prompt; OpenClaw's `contextTokens` is the size of the model's window.
  totalTokens: "context_tokens",
  compactionCount: "compaction_count",
  memoryFlushAt: "memory_flush_at",
  memoryFlushCompactionCount: "memory_flush_compaction_count",
  sessionStartedAt: "session_started_at",
  lastInteractionAt: "last_interaction_at",
  createdAt: "created_at",
};
/** Caches of OpenClaw that it writes again with every turn. They are large, and mean nothing elsewhere. */
const caches = new Set(["skillsSnapshot", "systemPromptReport", "contextBudgetStatus", "sessionDiffBaselineCapture"]);

/** The columns of a session row that the source's own row determines. */
export function readImportedColumns(fields: JsonObject, sourceKey = ""): Partial<SessionTable> {
  const columns: Partial<Record<Column, unknown>> = {};
  for (const [field, column] of Object.entries(textColumns)) {
    const value = fields[field];
    if (typeof value === "string" && value !== "") columns[column] = value;
  }
  for (const [field, column] of Object.entries(numberColumns)) {
    const value = fields[field];
    if (typeof value === "number" && Number.isFinite(value) && value >= 0) columns[column] = Math.trunc(value);
  }
  const { sendPolicy, label, displayName, inputTokens, outputTokens } = fields;
  if (sendPolicy === "allow" || sendPolicy === "deny") columns.send_policy = sendPolicy;
  // A name that only repeats the key says less than the first request does.
  const isName = (text: unknown) => typeof text === "string" && text !== "" && !sourceKey.endsWith(`:${text}`);
  const name = [label, displayName].find(isName);
  if (name !== undefined) columns.display_name = name;
  if (typeof inputTokens === "number" && typeof outputTokens === "number") {
    columns.total_tokens = Math.trunc(inputTokens + outputTokens);
  }
  return columns as Partial<SessionTable>;
}

/** The whole row without its caches, for what has no column. */
export function keepImportedFields(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !caches.has(name)));
}
