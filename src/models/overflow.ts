/** Messages about rates, quotas or output length; a shorter prompt would not help. */
const otherLimits: readonly RegExp[] = [
  /tokens?[ _-]per[ _-](?:min|hour|day|second)/,
  /\b(?:tpm|tpd|rpm)\b/,
  /rate[ _-]?limit/,
  /too many requests/,
  /too many tokens, please wait/,
  /throttl/,
  /quota/,
];

/** How providers report a prompt that is too long, in lower case. Gaps are bounded, so that matching is never slow. */
const phrasings: readonly (readonly [providers: string, pattern: RegExp])[] = [
  ["Anthropic, Bedrock, Fireworks", /prompt is too long/],
  ["Anthropic", /input length and `?max_tokens`? exceed context limit/],
  ["Anthropic", /request_too_large|request exceeds the maximum (?:size|allowed number of bytes)/],
  ["Anthropic, Zhipu", /model_context_window_exceeded/],
  ["OpenAI, Azure, Groq, Cerebras and compatible servers", /context[ _-]length[ _-]exceeded/],
  ["OpenAI Responses", /exceeds the context window/],
  ["OpenAI", /string too long\. expected a string with maximum length/],
  ["OpenAI, DeepSeek, OpenRouter, vLLM, Mistral", /maximum context length/],
  // "The input token count (32771) exceeds the maximum number of (input) tokens allowed", and without its noun or number.
  [
    "Google, Bedrock, gateways",
    /(?:input|prompt|request|context)[^.;\n]{0,60}exceed(?:s|ed|ing)? (?:the )?max(?:imum)? (?:allowed )?(?:number|count|amount) of (?:input |prompt |context )?tokens/,
  ],
  [
    "several gateways",
    /(?:input|prompt|request|message)s?[^.;\n]{0,60}exceed(?:s|ed|ing)? (?:the )?(?:model(?:'s)? )?(?:max(?:imum)? )?(?:allowed )?(?:input |prompt |context )?token (?:limit|count|length)/,
  ],
  [
    "several gateways",
    /(?:number of|total) (?:input |prompt )?tokens[^.;\n]{0,60}exceeds? (?:the )?(?:max(?:imum)?|limit|context)/,
  ],
  ["Google Vertex", /input token count is \d+ but (?:the )?model only supports up to/],
  ["Mistral", /too large for model with \d+ maximum context/],
  ["Cohere", /too many tokens: (?:total number of tokens|size limit exceeded)/],
  ["Groq, Cerebras, vLLM", /reduce the length of the (?:input )?(?:messages|prompt)/],
  ["xAI", /maximum prompt length is \d+/],
  ["Bedrock, Replicate", /input is too long/],
  ["Bedrock Titan", /too many input tokens/],
  ["Bedrock Nova", /input tokens exceeded|number of input tokens exceeds maximum length/],
  ["Bedrock", /expected maxlength: \d+, actual: \d+/],
  ["Ollama", /input length exceeds (?:the |maximum )?context length/],
  ["Ollama", /prompt too long/],
  ["llama.cpp", /exceeds? the (?:available )?context size|exceed_context_size_error/],
  ["llama.cpp, LM Studio", /context size has been exceeded|context size exceeded/],
  ["vLLM", /prompt.{0,40}is longer than the maximum model length/],
  ["vLLM", /model's context length is only \d+/],
  ["SGLang", /longer than the model's context length/],
  ["LM Studio", /greater than the context length/],
  ["LM Studio", /loaded with context length of only \d+/],
  ["LM Studio", /reached context length of \d+ tokens/],
  ["Together, Text Generation Inference", /`?inputs`? tokens \+ `?max_new_tokens`? must be <=/],
  ["Text Generation Inference", /`inputs` must have less than \d+ tokens/],
  ["Perplexity", /length of all messages is too long/],
  ["MiniMax", /context window exceeds limit/],
  ["Moonshot", /exceeded model token limit|input token length too long/],
  ["Zhipu", /prompt exceeds max(?:imum)? length/],
  ["Alibaba", /range of input length should be/],
  ["GitHub Copilot", /prompt token count of \d+ exceeds the limit of \d+/],
  ["watsonx", /number of input tokens \d+ cannot exceed the total tokens limit/],
  ["Databricks", /exceeded maximum allowed content length/],
  ["llama-cpp-python", /exceeds? context window of \d+/],
  ["Volcengine", /exceeds? max message tokens/],
  ["SiliconFlow", /prompt_tokens.{0,40}must be less than max_seq_len/],
  ["Google", /request payload size exceeds the limit/],
  ["proxies", /request entity too large|payload too large|content too large/],
  [
    "several gateways",
    /context window (?:is )?(?:full|exceeded)|exceed(?:s|ed)? (?:the |this )?model(?:'s)? context window|context overflow/,
  ],
];

const textMax = 20_000;
const causesMax = 6;

/** Whether an error reports that the prompt was too long for the model. */
export function isContextOverflow(error: unknown): boolean {
  const text = collectErrorText(error).toLowerCase();
  if (otherLimits.some((pattern) => pattern.test(text))) return false;
  return isStatus413(error) || phrasings.some(([, pattern]) => pattern.test(text));
}

/** How providers state the limit that was exceeded. */
const limits: readonly RegExp[] = [
  /> (\d{4,8}) maximum/,
  /exceed context limit: [^>]{0,60}> (\d{4,8})/,
  /maximum context length (?:is|of) (\d{4,8})/,
  /maximum number of (?:input |prompt |context )?tokens(?: allowed)?(?: is| of|:)? \(?(\d{4,8})/,
  /only supports up to (\d{4,8})/,
  /maximum prompt length is (\d{4,8})/,
  /with (\d{4,8}) maximum context/,
  /context length (?:is only|of(?: only)?) (\d{4,8})/,
  /exceeds? the (?:available )?context size \(?(\d{4,8})/,
  /context window of (\d{4,8})/,
  /exceeds the limit of (\d{4,8})/,
  /total tokens limit (\d{4,8})/,
];

/** The prompt limit, if the error states it. */
export function parseOverflowLimit(error: unknown): number | undefined {
  const text = collectErrorText(error)
    .toLowerCase()
    .replace(/(\d),(?=\d{3})/g, "$1");
  for (const pattern of limits) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return Number(found);
  }
  return undefined;
}

/** A proxy that rejects the size of a request often reports only the status. */
function isStatus413(error: unknown): boolean {
  return typeof error === "object" && error !== null && "statusCode" in error && error.statusCode === 413;
}

/** The text of an error: its message, the response body and its causes. */
export function collectErrorText(error: unknown): string {
  const collected: string[] = [];
  let at: unknown = error;
  for (let depth = 0; depth < causesMax && at !== undefined && at !== null; depth += 1) {
    collected.push(...listTexts(at));
    at = typeof at === "object" && "cause" in at ? at.cause : undefined;
  }
  return collected.join("\n").slice(0, textMax);
}

function listTexts(error: unknown): string[] {
  if (typeof error !== "object" || error === null) return [String(error).slice(0, textMax)];
  const { message, responseBody } = error as { message?: unknown; responseBody?: unknown };
  const texts = [message, responseBody].filter((text) => typeof text === "string");
  if (texts.length > 0 || error instanceof Error) return texts.map((text) => text.slice(0, textMax));
  try {
    return [JSON.stringify(error).slice(0, textMax)];
  } catch {
    // A cyclic or unreadable value has no text.
    return [Object.prototype.toString.call(error)];
  }
}
