import { getParts, type Message, neutraliseName, type Part } from "../domain/index.ts";

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

/**
 * Puts the speaker before a message. The name is one line, and further lines of the message are indented, so that nothing
 * in it reads like the message of another speaker or like a heading.
 */
function named(message: Message): Message {
  if (message.name === undefined) return message;
  const prefix = `${neutraliseName(message.name)}: `;
  if (typeof message.content === "string") return { ...message, content: prefix + indentLines(message.content) };
  const [first, ...rest] = getParts(message);
  const head: Part[] =
    first?.type === "text"
      ? [{ ...first, text: prefix + indentLines(first.text) }]
      : [toTextPart(prefix), ...(first ? [first] : [])];
  const others = rest.map((part) => (part.type === "text" ? { ...part, text: `  ${indentLines(part.text)}` } : part));
  return { ...message, content: [...head, ...others] };
}

function indentLines(text: string): string {
  return text.replaceAll(/\r\n?|[\n\u0085\u2028\u2029]/g, "\n  ");
}

function toTextPart(text: string): Part {
  return { type: "text", text };
}
