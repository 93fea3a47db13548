import type { Status } from "../index.ts";
import { number } from "./output.ts";

type Coverage = Status["search"];

/** Describes the coverage of searches by meaning, and how they would find more or answer faster. */
export function describeCoverage(search: Coverage): string {
  return [describeVectors(search), ...search.index.advice].join("; ");
}

function describeVectors(search: Coverage): string {
  const { model, vectors, messages, memories, memoryVectors, serving, earlier } = search;
  if (model === null) return "keywords only: there is no embedding model";
  const embeddedMemories = `${number(memoryVectors)} of ${number(memories)} memories`;
  const embedded = `${number(vectors)} of ${number(messages)} messages and ${embeddedMemories} embedded by ${model}${describePending(search)}`;
  if (serving !== model) return `${embedded}; searches use ${serving} until then`;
  const left = earlier.map((one) => `${number(one.vectors)} of ${one.model}`).join(", ");
  return left === ""
    ? embedded
    : `${embedded}; vectors of earlier models: ${left} (\`varve maintain\` removes those that are no longer needed)`;
}

/** Fewer vectors than messages is no sign of work that waits: messages without text have none. */
function describePending(search: Coverage): string {
  const { pendingMessages, memories, memoryVectors, instantVectors } = search;
  if (pendingMessages === 0 && memoryVectors >= memories) return "";
  const meanwhile =
    instantVectors === 0 ? "" : `instant vectors of ${number(instantVectors)} messages serve meanwhile; `;
  return ` (${meanwhile}\`varve index\` embeds the rest)`;
}
