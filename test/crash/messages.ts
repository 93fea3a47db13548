/** The messages that the crash tests write. Each follows from the seed and the name of its batch. */
import type { Message } from "../../src/domain/index.ts";
import { type Rng, rngOf } from "../support/rng.ts";

const firstTime = Date.UTC(2026, 0, 1);
const texts = [
  "My flight is on Friday at 7.",
  "旅行は明日です",
  "🙂🚀 emoji and e\u0301 combining",
  "a \u0000 NUL inside",
  "lone \ud800 surrogate",
  "'; drop table entries; --",
  'quotes " and \\ and \n new lines \u2028 too',
  "",
];

/** A whole batch: every message says which batch it belongs to and how large that is. */
export function batchOf(seed: number, name: string, sizeMax = 40): Message[] {
  const rng = rngOf(seed, name);
  const size = rng.int(1, sizeMax);
  const messages: Message[] = [];
  while (messages.length < size) {
    const left = size - messages.length;
    messages.push(...(left >= 3 && rng.next() < 0.25 ? toolPair(rng) : [plain(rng)]));
  }
  return messages.map((message, index) => ({
    ...message,
    id: `${name}.${index}`,
    time: firstTime + rng.int(0, 1_000_000),
    meta: { batch: name, index, size },
  }));
}

export function plain(rng: Rng): Message {
  const filler = "sediment ".repeat(rng.int(0, 40));
  return { role: rng.pick(["user", "assistant"] as const), content: `${rng.pick(texts)} ${filler}${rng.int(0, 1e6)}` };
}

function toolPair(rng: Rng): Message[] {
  const callId = `call-${rng.int(0, 1e9)}`;
  return [
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: rng.pick(texts), signature: "c2lnbmVk" },
        { type: "tool_call", callId, name: "read", input: { path: rng.pick(texts), depth: [1, null, { x: true }] } },
      ],
    },
    { role: "tool", content: [{ type: "tool_result", callId, output: rng.pick(texts), isError: rng.next() < 0.2 }] },
  ];
}

export interface BatchMark {
  batch: string;
  index: number;
  size: number;
}

/** Which batch a message that came back belongs to. */
export function markOf(message: Message): BatchMark | undefined {
  const { batch, index, size } = message.meta ?? {};
  return typeof batch === "string" && typeof index === "number" && typeof size === "number"
    ? { batch, index, size }
    : undefined;
}
