export { answerHook, type HookOptions } from "./claude-code/answer-hook.ts";
export {
  type HookEvent,
  type HookInput,
  type HookOutput,
  hookEvents,
  parseHookInput,
} from "./claude-code/hook-input.ts";
export { inspectOpenclaw } from "./openclaw/inspect.ts";
export { printDiff } from "./setup/changes.ts";
export { locateOpenclaw } from "./setup/openclaw.ts";
export { planSetup, type Setup, type SetupName, setupNames } from "./setup/setup.ts";
export type { SetupContext } from "./setup/setup-target.ts";
