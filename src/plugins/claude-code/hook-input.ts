import { z } from "zod";
import { VarveError } from "../../domain/index.ts";

/** The hook events that the plugin handles. */
export const hookEvents = [
  "SessionStart",
  "UserPromptSubmit",
  "PreCompact",
  "PostCompact",
  "Stop",
  "SubagentStop",
  "SessionEnd",
] as const;
export type HookEvent = (typeof hookEvents)[number];

const path = z.string().min(1).max(4_096);

/** The fields of a hook's input that are used; other fields are ignored. */
const hookInputSchema = z.object({
  hook_event_name: z.enum(hookEvents),
  session_id: z.string().regex(/^[\w.-]{1,128}$/),
  transcript_path: path.optional(),
  agent_transcript_path: path.optional(),
  agent_id: z.string().max(512).optional(),
  cwd: path.optional(),
  source: z.string().max(64).optional(),
  prompt: z.string().optional(),
  compact_summary: z.string().optional(),
});
export type HookInput = z.output<typeof hookInputSchema>;

/** The output of a hook: text that Claude Code adds to the context. */
export interface HookOutput {
  hookSpecificOutput: { hookEventName: HookEvent; additionalContext: string };
}

export function parseHookInput(value: unknown): HookInput {
  const parsed = hookInputSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new VarveError(
    "BAD_REQUEST",
    `This is not the input of a Claude Code hook: ${issue?.path.join(".")}: ${issue?.message}.`,
    {
      remedy: `Send the hook's input unchanged; hook_event_name must be one of ${hookEvents.join(", ")}.`,
    },
  );
}
