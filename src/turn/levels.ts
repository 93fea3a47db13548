import type { Session } from "../session/index.ts";

/** How much a model thinks before it answers; the provider's default when absent. */
export const thinkingLevels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];

/** The levels of a session as a turn applies them. */
export interface TurnLevels {
  thinking?: ThinkingLevel;
  /** Whether the reasoning is streamed to the person, and whether the result repeats it. */
  reasoning: { isStreamed: boolean; isInResult: boolean };
  /** Whether tools that change memories are offered. */
  mayWrite: boolean;
  notes: string[];
}

/**
 * Reads the levels of a session. `thinkingLevel` goes to the model. `reasoningLevel`: `off` shows no reasoning, `on` puts
 * it into the result as well. `elevatedLevel`: `off` leaves out the tools that change memories.
 */
export function readLevels({ thinkingLevel, reasoningLevel, elevatedLevel }: Session): TurnLevels {
  const asked = thinkingLevel?.toLowerCase();
  const name = asked === "off" ? "none" : asked === "on" ? "medium" : asked;
  const thinking = thinkingLevels.find((level) => level === name);
  const isUnknown = asked !== undefined && asked !== "" && asked !== "default" && thinking === undefined;
  const shown = reasoningLevel?.toLowerCase();
  return {
    ...(thinking === undefined ? {} : { thinking }),
    reasoning: { isStreamed: shown !== "off", isInResult: shown === "on" },
    mayWrite: elevatedLevel?.toLowerCase() !== "off",
    notes: isUnknown
      ? [`The thinking level ${thinkingLevel} is unknown; use one of ${thinkingLevels.join(", ")}.`]
      : [],
  };
}
