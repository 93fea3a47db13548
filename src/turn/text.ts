import { getParts, type Message } from "../domain/index.ts";

/** The text of a message. */
export function getText(message: Pick<Message, "content">): string {
  return getParts(message)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("")
    .trim();
}
