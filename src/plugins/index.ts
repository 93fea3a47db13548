export { answerHook, type HookSetting } from "./claude-code/answer-hook.ts";
export {
  type HookEvent,
  type HookInput,
  type HookOutput,
  hookEvents,
  parseHookInput,
} from "./claude-code/hook-input.ts";
export { printDiff } from "./setup/changes.ts";
export type { SetupSetting } from "./setup/setting.ts";
export { planSetup, type Setup, type SetupName, setupNames } from "./setup/setup.ts";
