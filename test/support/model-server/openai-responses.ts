import { type Dialect, type Json, pieces, type Said } from "./dialect.ts";

/** OpenAI's Responses. */
export const responsesDialect: Dialect = {
  counted: ({ instructions, input, tools }) => [instructions, input, tools],
  maxTokens: (body) => Number(body.max_output_tokens ?? 0),
  wrong({ input }) {
    const items = Array.isArray(input) ? (input as Json[]) : [];
    const calls = items.filter(({ type }) => type === "function_call").map(({ call_id }) => call_id);
    const outputs = items.filter(({ type }) => type === "function_call_output").map(({ call_id }) => call_id);
    const loose = outputs.find((id) => !calls.includes(id));
    if (loose !== undefined) return wrong(`No tool call found for function call output with call_id ${String(loose)}.`);
    const open = calls.find((id) => !outputs.includes(id));
    if (open !== undefined) return wrong(`No tool output found for function call ${String(open)}.`);
    return undefined;
  },
  overflow: (tokens, _most, limit) => ({
    error: {
      message: `Your input exceeds the context window of this model. This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`,
      type: "invalid_request_error",
      param: "input",
      code: "context_length_exceeded",
    },
  }),
  refusal(body, n, tokens, limit) {
    const event = (value: Json): string => `event: ${String(value.type)}\ndata: ${JSON.stringify(value)}\n\n`;
    const message = `Your input exceeds the context window of this model: ${tokens} of ${limit} tokens.`;
    const error = { code: "context_length_exceeded", message };
    return [
      event({ type: "response.created", response: responseOf(body, n, [], "in_progress") }),
      event({ type: "response.in_progress", response: responseOf(body, n, [], "in_progress") }),
      event({ type: "response.failed", response: { ...responseOf(body, n, [], "failed"), error } }),
    ];
  },
  whole: (body, said, usage, n) => responseOf(body, n, itemsOf(said, n), "completed", usage),
  events(body, said, usage, n) {
    let sequence = 0;
    const event = (value: Json): string =>
      `event: ${String(value.type)}\ndata: ${JSON.stringify({ ...value, sequence_number: sequence++ })}\n\n`;
    const begun = responseOf(body, n, [], "in_progress");
    const items = itemsOf(said, n);
    return [
      event({ type: "response.created", response: begun }),
      event({ type: "response.in_progress", response: begun }),
      ...items.flatMap((item, output_index) => itemEvents(item, output_index).map(event)),
      event({ type: "response.completed", response: responseOf(body, n, items, "completed", usage) }),
    ];
  },
};

function wrong(message: string): Json {
  return { error: { message, type: "invalid_request_error", param: "input", code: null } };
}

function itemsOf({ text, thinking, calls = [] }: Said, n: number): Json[] {
  return [
    ...(thinking === undefined
      ? []
      : [{ id: `rs_${n}`, type: "reasoning", summary: [], encrypted_content: `sealed:${thinking}` }]),
    ...(text === undefined
      ? []
      : [
          {
            id: `msg_${n}`,
            type: "message",
            status: "completed",
            role: "assistant",
            content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
          },
        ]),
    ...calls.map(({ id, name, input }, index) => ({
      id: `fc_${n}_${index}`,
      type: "function_call",
      status: "completed",
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    })),
  ];
}

function itemEvents(item: Json, output_index: number): Json[] {
  const item_id = item.id;
  const done = { type: "response.output_item.done", output_index, item };
  const added = (value: Json): Json => ({ type: "response.output_item.added", output_index, item: value });
  if (item.type === "message") {
    const [part] = item.content as Json[];
    const text = String(part?.text);
    const place = { item_id, output_index, content_index: 0 };
    return [
      added({ ...item, status: "in_progress", content: [] }),
      { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
      ...pieces(text).map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [] })),
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      { type: "response.content_part.done", ...place, part },
      done,
    ];
  }
  if (item.type === "function_call") {
    const place = { item_id, output_index };
    return [
      added({ ...item, status: "in_progress", arguments: "" }),
      ...pieces(String(item.arguments)).map((delta) => ({
        type: "response.function_call_arguments.delta",
        ...place,
        delta,
      })),
      { type: "response.function_call_arguments.done", ...place, name: item.name, arguments: item.arguments },
      done,
    ];
  }
  return [added(item), done];
}

function responseOf(
  body: Json,
  n: number,
  output: Json[],
  status: string,
  usage?: { input: number; output: number },
): Json {
  return {
    id: `resp_${n}`,
    object: "response",
    created_at: 1_700_000_000,
    status,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    model: body.model,
    output,
    parallel_tool_calls: true,
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    metadata: {},
    usage: usage
      ? {
          input_tokens: usage.input,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: usage.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: usage.input + usage.output,
        }
      : null,
  };
}
