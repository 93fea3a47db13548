import { getParts, type Message } from "../domain/index.ts";

/** What a message says in words. */
export function getText(message: Pick<Message, "content">): string {
  return getParts(message)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("")
    .trim();
}
