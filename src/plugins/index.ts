export { answerHook, type HookSetting } from "./claude-code/answer-hook.ts";
export {
  type HookEvent,
  type HookInput,
  type HookOutput,
  hookEvents,
  parseHookInput,
} from "./claude-code/hook-input.ts";
