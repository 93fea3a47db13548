import { type Dialect, type Json, pieces, type Said } from "./dialect.ts";

/** OpenAI's Chat Completions. */
export const chatDialect: Dialect = {
  counted: ({ messages, tools }) => [messages, tools],
  maxTokens: (body) => Number(body.max_completion_tokens ?? body.max_tokens ?? 0),
  wrong({ messages }) {
    let open = new Set<string>();
    for (const message of messages as Json[]) {
      if (message.role === "tool") {
        if (open.delete(String(message.tool_call_id))) continue;
        return wrong("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.");
      }
      if (open.size > 0) return wrong(`tool_call_ids did not have response messages: ${[...open].join()}`);
      open = new Set(((message.tool_calls ?? []) as Json[]).map((call) => String(call.id)));
    }
    return undefined;
  },
  overflow: (tokens, maxTokens, limit, countsAnswer) => ({
    error: {
      message: countsAnswer
        ? `This model's maximum context length is ${limit} tokens. However, you requested ${tokens + maxTokens} tokens (${tokens} in the messages, ${maxTokens} in the completion). Please reduce the length of the messages or completion.`
        : `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
  }),
  whole: (body, said, usage, n) => ({
    ...frame(body, n, "chat.completion"),
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: said.text ?? null,
          refusal: null,
          annotations: [],
          ...(said.calls ? { tool_calls: callsOf(said) } : {}),
        },
        logprobs: null,
        finish_reason: said.calls ? "tool_calls" : "stop",
      },
    ],
    usage: usageOf(usage),
  }),
  events(body, said, usage, n) {
    const chunk = (delta: Json, finish: string | null = null): string =>
      data({
        ...frame(body, n, "chat.completion.chunk"),
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      });
    const options = body.stream_options as Json | undefined;
    return [
      chunk({ role: "assistant", content: "", refusal: null }),
      ...pieces(said.text ?? "").map((content) => chunk({ content })),
      ...callsOf(said).flatMap((call, index) => [
        chunk({ tool_calls: [{ ...call, index, function: { name: call.function.name, arguments: "" } }] }),
        ...pieces(call.function.arguments).map((text) =>
          chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
        ),
      ]),
      chunk({}, said.calls ? "tool_calls" : "stop"),
      ...(options?.include_usage === true
        ? [data({ ...frame(body, n, "chat.completion.chunk"), choices: [], usage: usageOf(usage) })]
        : []),
      "data: [DONE]\n\n",
    ];
  },
};

function wrong(message: string): Json {
  return { error: { message, type: "invalid_request_error", param: "messages", code: null } };
}

function frame(body: Json, n: number, object: string): Json {
  return { id: `chatcmpl-${n}`, object, created: 1_700_000_000, model: body.model, system_fingerprint: null };
}

function callsOf({ calls = [] }: Said) {
  return calls.map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
}

function usageOf({ input, output }: { input: number; output: number }): Json {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

function data(value: Json): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
