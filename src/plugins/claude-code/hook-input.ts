import { z } from "zod";
import { VarveError } from "../../domain/index.ts";

/** The events of Claude Code that the plugin listens to. */
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

/** What Claude Code hands to a hook, as far as it is used; versions to come may send more. */
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

/** What a hook answers: text that enters the context. */
export interface HookOutput {
  hookSpecificOutput: { hookEventName: HookEvent; additionalContext: string };
}

export function parseHookInput(value: unknown): HookInput {
  const parsed = hookInputSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new VarveError(
    "BAD_REQUEST",
    `This is not what Claude Code sends to a hook: ${issue?.path.join(".")}: ${issue?.message}.`,
    {
      remedy: `Send the hook's input as it came; its hook_event_name is one of ${hookEvents.join(", ")}.`,
    },
  );
}
