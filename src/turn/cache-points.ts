import { getParts, type Message, type Part } from "../domain/index.ts";
import { estimateMessageTokens } from "../text/index.ts";

/** A part of a message after which the prompt is the same in later prompts: a provider's cache can end there. */
export interface CachePoint {
  message: number;
  part: number;
}

export interface CachePlan {
  points: CachePoint[];
  /** The tokens after the last point: they change with every prompt. */
  tailTokens: number;
}

/** A block that the prompt recalls: the next prompt recalls others. */
const recalledStart = "<recalled ";
const summaryStart = "<summary ";

/**
 * Where the prefix of a prompt is stable: after the summaries, until the next compaction; after the last answer, where the
 * previous turn ended; and after the newest message, where the next turn will continue. With the end of the system prompt
 * these are the four places that Anthropic allows.
 */
export function planCache(messages: readonly Message[]): CachePlan {
  const places = messages.flatMap((message, index) =>
    getParts(message).map((part, at) => ({ message: index, part: at, role: message.role, kind: getKind(part) })),
  );
  const newest = places.findLastIndex(({ kind }) => kind !== "recalled");
  const answer = places.findLastIndex(({ role }, at) => role === "assistant" && at < newest);
  const summary = places.findLastIndex(({ kind }, at) => kind === "summary" && at < newest);
  const chosen = [...new Set([summary, answer, newest])].filter((at) => at !== -1).sort((a, b) => a - b);
  const tail = places.slice(newest + 1);
  const tailTokens = tail.reduce((sum, { message, part }) => {
    const one = messages[message];
    const content = one === undefined ? undefined : getParts(one)[part];
    return sum + (content === undefined ? 0 : estimateMessageTokens({ content: [content] }));
  }, 0);
  const points = chosen.flatMap((at) => {
    const place = places[at];
    return place === undefined ? [] : [{ message: place.message, part: place.part }];
  });
  return { points, tailTokens };
}

function getKind(part: Part): "recalled" | "summary" | "other" {
  if (part.type !== "text") return "other";
  if (part.text.startsWith(recalledStart)) return "recalled";
  return part.text.startsWith(summaryStart) ? "summary" : "other";
}
