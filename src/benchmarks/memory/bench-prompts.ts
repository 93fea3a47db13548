import type { Varve } from "../../index.ts";
import { round } from "../result.ts";
import { chinese, japanese, korean, russian } from "./prompts/east.ts";
import { english, french, german, italian, portuguese, spanish } from "./prompts/west.ts";

const promptSets = [english, german, french, spanish, italian, portuguese, russian, chinese, japanese, korean];

export interface PromptFigures {
  related: number;
  unrelated: number;
  /** The share of related prompts that bring up their fact. */
  found: number;
  /** The share of unrelated prompts that bring up anything. */
  noise: number;
}

/** Asks a store of facts in each language related and unrelated prompts, and counts what is brought up unasked. */
export async function benchPrompts(
  varve: Varve,
  onProgress: (done: number, total: number) => void,
): Promise<Record<string, PromptFigures>> {
  const figures: Record<string, PromptFigures> = {};
  const total = promptSets.reduce((sum, one) => sum + one.related.length + one.unrelated.length, 0);
  let done = 0;
  for (const { language, related } of promptSets) {
    for (const [fact] of related) await varve.memory.add({ agent: `prompts-${language}`, text: fact });
  }
  await varve.search.index();
  for (const { language, related, unrelated } of promptSets) {
    const agent = `prompts-${language}`;
    const bringUp = async (prompt: string) => {
      const request = { agent, prompt, memoriesMax: 5, passagesMax: 0, kinds: ["chunk" as const] };
      const { memories } = await varve.memory.recallForPrompt(request);
      done += 1;
      if (done % 50 === 0) onProgress(done, total);
      return memories.map((hit) => hit.memory.content);
    };
    let [found, noise] = [0, 0];
    for (const [fact, question] of related) if ((await bringUp(question)).includes(fact)) found += 1;
    for (const prompt of unrelated) if ((await bringUp(prompt)).length > 0) noise += 1;
    figures[language] = {
      related: related.length,
      unrelated: unrelated.length,
      found: round(found / related.length),
      noise: round(noise / unrelated.length),
    };
  }
  return figures;
}
