export type { WorkBench } from "./agent-work/bench-work.ts";
export { type AttackKind, attackKinds } from "./attack/attackers.ts";
export { benchAccess } from "./attack/bench-access.ts";
export { benchAttack } from "./attack/bench-attack.ts";
export { benchContext, type ContextBench } from "./context.ts";
export { benchMemory, type MemoryBench } from "./memory/index.ts";
export { benchRecall, type RecallBench } from "./recall.ts";
export { benchSpeed, type SpeedPart, speedParts } from "./speed.ts";
export { benchTurns, type TurnsBenchOptions } from "./turns.ts";
