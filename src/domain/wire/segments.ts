import type { Message, Role } from "../message.ts";
import { getParts } from "../message.ts";
import type { Part, ToolResultPart } from "../part.ts";
import { isHosted } from "./exact.ts";

export type Segment = { role: "tool"; results: ToolResultPart[] } | { role: Exclude<Role, "tool">; parts: Part[] };

/**
 * A message cut into runs of tool results and of everything else, for formats in which results are messages of their
 * own. Results of the provider's own tools stay where they are.
 */
export function splitSegments(message: Message): Segment[] {
  const speaker = message.role === "tool" ? "user" : message.role;
  const segments: Segment[] = [];
  for (const part of getParts(message)) {
    const last = segments.at(-1);
    if (part.type === "tool_result" && !isHosted(part)) {
      if (last?.role === "tool") last.results.push(part);
      else segments.push({ role: "tool", results: [part] });
    } else if (last !== undefined && last.role !== "tool") last.parts.push(part);
    else segments.push({ role: speaker, parts: [part] });
  }
  return segments;
}
