import { describe, expect, it } from "vitest";
import { collectErrorText, isContextOverflow, parseOverflowLimit } from "./overflow.ts";

const overflows: [string, string][] = [
  ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum"],
  ["Anthropic", "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000, decrease input length"],
  ["Anthropic", '{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}'],
  ["Anthropic", '{"stop_reason":"model_context_window_exceeded"}'],
  ["OpenAI", "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens."],
  ["OpenAI", '{"error":{"message":"Too long.","code":"context_length_exceeded"}}'],
  ["OpenAI Responses", "Your input exceeds the context window of this model. Please adjust your input and try again."],
  [
    "OpenAI",
    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576, but got a string with length 2000000 instead.",
  ],
  [
    "Azure",
    "This model's maximum context length is 16384 tokens, however you requested 20000 tokens (19000 in your prompt; 1000 for the completion).",
  ],
  ["Google", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."],
  ["Vertex", "Unable to submit request because the input token count is 40000 but model only supports up to 32768."],
  [
    "Mistral",
    "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
  ],
  ["Cohere", "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5123."],
  ["Cohere", "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs."],
  ["Groq", "Please reduce the length of the messages or completion."],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  [
    "DeepSeek",
    "This model's maximum context length is 65536 tokens. However, you requested 71234 tokens (67138 in the messages, 4096 in the completion).",
  ],
  ["Bedrock", "ValidationException: Input is too long for requested model."],
  ["Bedrock", "The model returned the following errors: prompt is too long: 903884 tokens > 200000 maximum"],
  ["Bedrock Titan", "Too many input tokens. Max input tokens: 8192, request input token count: 11451"],
  [
    "Bedrock Nova",
    "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
  ],
  [
    "Bedrock",
    "Malformed input request: expected maxLength: 20000, actual: 35500, please reformat your input and try again.",
  ],
  [
    "OpenRouter",
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input).",
  ],
  ["Ollama", "the input length exceeds the context length"],
  ["Ollama", "input length exceeds maximum context length"],
  ["Ollama", "prompt too long; exceeded max context length by 512 tokens"],
  ["llama.cpp", "the request exceeds the available context size, try increasing it"],
  ["llama.cpp", "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"],
  ["llama.cpp", '{"error":{"code":400,"type":"exceed_context_size_error","n_ctx":8192}}'],
  ["llama.cpp", "Context size has been exceeded."],
  [
    "vLLM",
    "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 65536 tokens and your request has 57879 input tokens (8192 > 65536 - 57879).",
  ],
  ["vLLM", "The decoder prompt (length 5000) is longer than the maximum model length of 4096."],
  [
    "vLLM",
    "You passed 8193 input tokens and requested 1 output tokens. However, the model's context length is only 8192 tokens.",
  ],
  ["SGLang", "The input (20000 tokens) is longer than the model's context length (8192 tokens)."],
  ["SGLang", "Requested token count exceeds the model's maximum context length of 8192 tokens."],
  ["LM Studio", "The number of tokens to keep from the initial prompt is greater than the context length."],
  [
    "LM Studio",
    "Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens.",
  ],
  ["LM Studio", "Reached context length of 4096 tokens with model (arch=llama)"],
  [
    "Together",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`",
  ],
  ["TGI", "Input validation error: `inputs` must have less than 1024 tokens. Given: 1536"],
  ["Fireworks", "The prompt is too long: 140000, model maximum context length: 131071"],
  ["Perplexity", "The total length of all messages is too long."],
  ["MiniMax", "invalid params, context window exceeds limit (2013)"],
  ["Moonshot", "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)"],
  ["Zhipu", "Prompt exceeds max length"],
  ["Alibaba", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"],
  ["GitHub Copilot", "prompt token count of 130500 exceeds the limit of 128000"],
  ["Cerebras", "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192"],
  ["watsonx", "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model"],
  ["llama-cpp-python", "Requested tokens (9000) exceed context window of 8192"],
  [
    "Cloudflare",
    "The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8192).",
  ],
  ["Volcengine", "Total tokens of image and text exceed max message tokens."],
  ["SiliconFlow", "length of prompt_tokens (40000) must be less than max_seq_len (32768)."],
  ["Google", "Request payload size exceeds the limit: 20971520 bytes."],
  ["nginx", "<html><head><title>413 Request Entity Too Large</title></head></html>"],
  ["Google", "The input token count exceeds the maximum number of input tokens allowed (32768)."],
  ["Google", "input token count exceeds the maximum number of input tokens"],
  ["a gateway", "input exceeds the maximum number of tokens"],
  ["a gateway", "The request exceeded the maximum number of prompt tokens (8192)."],
  ["a gateway", "Your prompt exceeds the model's maximum token limit."],
  ["a gateway", "Input exceeds the token limit of this deployment"],
  ["a gateway", "The number of input tokens (9000) exceeds the limit of 8192"],
  ["Databricks", "Exceeded maximum allowed content length"],
];

const others: [string, string][] = [
  ["OpenAI rate", "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000."],
  [
    "OpenAI rate",
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 41000.",
  ],
  [
    "Groq rate",
    "Request too large for model `llama-3` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size",
  ],
  ["Anthropic rate", "This request would exceed your organization's rate limit of 40,000 input tokens per minute."],
  ["Bedrock rate", "ThrottlingException: Too many tokens, please wait before trying again."],
  ["Google quota", "You exceeded your current quota, please check your plan and billing details."],
  [
    "OpenAI answer",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
  ],
  [
    "Anthropic answer",
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku",
  ],
  [
    "Google answer",
    "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 to 65537",
  ],
  ["an answer", "The requested output exceeds the maximum number of completion tokens (4096)."],
  ["key", "Incorrect API key provided"],
  ["model", "The model `gpt-9` does not exist or you do not have access to it."],
  ["server", "Overloaded"],
  ["nothing", ""],
];

describe("a prompt that is too long", () => {
  it.each(overflows)("is recognised in the words of %s: %s", (_, text) => {
    expect(isContextOverflow(text)).toBe(true);
    expect(isContextOverflow(new Error(text.toUpperCase()))).toBe(true);
  });

  it.each(others)("is not confused with other errors of %s: %s", (_, text) => {
    expect(isContextOverflow(text)).toBe(false);
  });

  it("is found in the response body, in a cause, and in a plain object", () => {
    const inBody = Object.assign(new Error("Bad Request"), { responseBody: '{"code":"context_length_exceeded"}' });
    expect(isContextOverflow(inBody)).toBe(true);
    expect(isContextOverflow(new Error("failed", { cause: inBody }))).toBe(true);
    expect(isContextOverflow({ type: "error", error: { code: "context_length_exceeded" } })).toBe(true);
  });

  it("may be reported by the status only", () => {
    expect(isContextOverflow(Object.assign(new Error("failed"), { statusCode: 413 }))).toBe(true);
    const rate = Object.assign(new Error("on tokens per minute (TPM): Limit 6000"), { statusCode: 413 });
    expect(isContextOverflow(rate)).toBe(false);
  });

  it("is searched in any value without failing", () => {
    const loop: { self?: unknown; cause?: unknown } = {};
    loop.self = loop;
    loop.cause = loop;
    for (const value of [undefined, null, 7, loop, Symbol("x"), "x".repeat(1_000_000)]) {
      expect(isContextOverflow(value)).toBe(false);
    }
    expect(collectErrorText("x".repeat(1_000_000)).length).toBeLessThanOrEqual(20_000);
  });
});

it("the limit is read from errors that state it", () => {
  const said: [string, number | undefined][] = [
    ["prompt is too long: 215362 tokens > 200000 maximum", 200_000],
    ["input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", 200_000],
    ["This model's maximum context length is 128,000 tokens. However, your messages resulted in 130,001.", 128_000],
    ["The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576],
    ["the request exceeds the available context size (4096 tokens), try increasing it", 4_096],
    ["The prompt token count of 70000 exceeds the limit of 64000", 64_000],
    ["The input token count exceeds the maximum number of input tokens allowed (32768).", 32_768],
    ["input exceeds the maximum number of tokens", undefined],
    ["context_length_exceeded", undefined],
  ];
  for (const [text, limit] of said) expect(parseOverflowLimit(new Error(text)), text).toBe(limit);
});
