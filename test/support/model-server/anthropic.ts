import { type Dialect, type Json, pieces, type Said } from "./dialect.ts";

/** The Messages API of Anthropic. */
export const anthropicDialect: Dialect = {
  counted: ({ system, messages, tools }) => [system, messages, tools],
  maxTokens: (body) => Number(body.max_tokens ?? 0),
  wrong({ messages }) {
    const message = wrongIn(messages as Json[]);
    return message === undefined ? undefined : { type: "error", error: { type: "invalid_request_error", message } };
  },
  overflow: (tokens, maxTokens, limit, countsAnswer) => ({
    type: "error",
    error: {
      type: "invalid_request_error",
      message: countsAnswer
        ? `input length and \`max_tokens\` exceed context limit: ${tokens} + ${maxTokens} > ${limit}, decrease input length or \`max_tokens\` and try again`
        : `prompt is too long: ${tokens} tokens > ${limit} maximum`,
    },
  }),
  whole: (body, said, usage, n) => ({
    id: `msg_${n}`,
    type: "message",
    role: "assistant",
    model: body.model,
    content: blocksOf(said),
    stop_reason: said.calls ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  }),
  events(body, said, usage, n) {
    const message = {
      id: `msg_${n}`,
      type: "message",
      role: "assistant",
      model: body.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: usage.input, output_tokens: 1 },
    };
    const blocks = blocksOf(said).flatMap((block, index) => blockEvents(block, index));
    const delta = { stop_reason: said.calls ? "tool_use" : "end_turn", stop_sequence: null };
    return [
      event({ type: "message_start", message }),
      event({ type: "ping" }),
      ...blocks,
      event({ type: "message_delta", delta, usage: { output_tokens: usage.output } }),
      event({ type: "message_stop" }),
    ];
  },
};

function wrongIn(messages: Json[]): string | undefined {
  if (messages[0]?.role !== "user") return "messages: first message must use the user role";
  const said = messages.filter(({ role }) => role !== "system");
  for (const [index, message] of said.entries()) {
    const calls = idsIn(message, "tool_use", "id");
    const answers = idsIn(said[index + 1], "tool_result", "tool_use_id");
    const missing = calls.filter((id) => !answers.includes(id));
    if (missing.length > 0 && index + 1 < said.length) {
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join()}`;
    }
    const before = idsIn(said[index - 1], "tool_use", "id");
    const loose = idsIn(message, "tool_result", "tool_use_id").filter((id) => !before.includes(id));
    if (loose.length > 0)
      return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${loose.join()}`;
    if (Array.isArray(message.content) && message.content.length === 0) return `messages.${index}: content is empty`;
  }
  return undefined;
}

function idsIn(message: Json | undefined, type: string, field: string): string[] {
  const blocks = Array.isArray(message?.content) ? (message.content as Json[]) : [];
  return blocks.filter((block) => block.type === type).map((block) => String(block[field]));
}

function blocksOf({ text, thinking, calls = [] }: Said): Json[] {
  return [
    ...(thinking === undefined ? [] : [{ type: "thinking", thinking, signature: `signed:${thinking.length}` }]),
    ...(text === undefined ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
  ];
}

function blockEvents(block: Json, index: number): string[] {
  const delta = (value: Json): string => event({ type: "content_block_delta", index, delta: value });
  const stop = event({ type: "content_block_stop", index });
  const start = (value: Json): string => event({ type: "content_block_start", index, content_block: value });
  if (block.type === "thinking") {
    return [
      start({ type: "thinking", thinking: "", signature: "" }),
      ...pieces(String(block.thinking)).map((thinking) => delta({ type: "thinking_delta", thinking })),
      delta({ type: "signature_delta", signature: block.signature }),
      stop,
    ];
  }
  if (block.type === "text") {
    return [
      start({ type: "text", text: "" }),
      ...pieces(String(block.text)).map((text) => delta({ type: "text_delta", text })),
      stop,
    ];
  }
  return [
    start({ ...block, input: {} }),
    ...pieces(JSON.stringify(block.input)).map((partial_json) => delta({ type: "input_json_delta", partial_json })),
    stop,
  ];
}

function event(value: Json): string {
  return `event: ${String(value.type)}\ndata: ${JSON.stringify(value)}\n\n`;
}
