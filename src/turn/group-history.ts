import { getParts, type Message, type Part } from "../domain/index.ts";

/**
 * Renders a group for the model: every message starts with its speaker; messages since the last reply that did not
 * address the agent get a heading, and only the newest of many are shown. It depends on the log alone, so that the prefix
 * of the prompt stays the same from turn to turn.
 */
export function withGroupHistory(messages: readonly Message[], limit: number): Message[] {
  const shown: Message[] = [];
  let stretch: Message[] = [];
  const flush = (isAnswered: boolean): void => {
    if (stretch.length === 0) return;
    const left = stretch.length - limit;
    const note = left > 0 ? ` ${left} earlier ones are left out; lcm_grep finds them.` : "";
    shown.push(heading(`[Messages of the group since the last reply, for context.${note}]`));
    shown.push(...stretch.slice(Math.max(0, left)));
    if (isAnswered) shown.push(heading("[The message to reply to]"));
    stretch = [];
  };
  for (const message of messages) {
    const place = message.meta?.group;
    if (place === "overheard") stretch.push(named(message));
    else {
      flush(place === "addressed");
      shown.push(place === "addressed" ? named(message) : message);
    }
  }
  flush(false);
  return shown;
}

function heading(content: string): Message {
  return { role: "user", content };
}

function named(message: Message): Message {
  if (message.name === undefined) return message;
  const [first, ...rest] = getParts(message);
  const prefix = `${message.name}: `;
  if (typeof message.content === "string") return { ...message, content: prefix + message.content };
  const head: Part[] =
    first?.type === "text"
      ? [{ ...first, text: prefix + first.text }]
      : [toTextPart(prefix), ...(first ? [first] : [])];
  return { ...message, content: [...head, ...rest] };
}

function toTextPart(text: string): Part {
  return { type: "text", text };
}
