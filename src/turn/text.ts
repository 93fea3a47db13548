import { type Message, partsOf } from "../domain/index.ts";

/** What a message says in words. */
export function textOf(message: Pick<Message, "content">): string {
  return partsOf(message)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("")
    .trim();
}
