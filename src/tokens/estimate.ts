import { type Message, partsOf } from "../domain/index.ts";
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
export function estimateMessageTokens(message: Message): number {
  return partsOf(message).reduce(
    (sum, part) => sum + estimateTokens("text" in part ? part.text : JSON.stringify(part)),
    4,
  );
}
