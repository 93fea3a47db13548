import { type Dialect, type Json, pieces, type Said } from "./dialect.ts";

/** The Messages API of Anthropic. */
export const anthropicDialect: Dialect = {
  counted: ({ system, messages, tools }) => [system, messages, tools],
  maxTokens: (body) => Number(body.max_tokens ?? 0),
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
