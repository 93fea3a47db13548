import type { SdkMessage } from "./sdk-messages.ts";

/** A part of a model's reply: of its content, or of its stream. */
export interface ReplyPart {
  type: string;
  [field: string]: unknown;
}

/** Converts the content of a reply to the message in which callers send it back; undefined when nothing was said. */
export function toReplyMessage(content: readonly ReplyPart[]): SdkMessage | undefined {
  const parts = content.flatMap((part): ReplyPart[] => {
    const { providerMetadata, ...fields } = part;
    const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
    switch (part.type) {
      case "text":
        return part.text === "" ? [] : [{ ...fields, ...options }];
      case "reasoning":
      case "file":
        return [{ ...fields, ...options }];
      case "tool-call":
        return [{ ...fields, ...options, input: typeof part.input === "string" ? parseInput(part.input) : part.input }];
      case "tool-result":
        return [toResultPart(part, options)];
      default:
        return [];
    }
  });
  return parts.length === 0 ? undefined : { role: "assistant", content: parts };
}

function toResultPart({ toolCallId, toolName, result, isError }: ReplyPart, options: object): ReplyPart {
  const output = { type: isError === true ? "error-json" : "json", value: result ?? null };
  return { type: "tool-result", toolCallId, toolName, output, ...options };
}

/** Models may send arguments that are no JSON; they are stored as they are. */
function parseInput(text: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

/** Collects the content of a streamed reply. */
export class StreamedReply {
  readonly #content: ReplyPart[] = [];
  readonly #open = new Map<string, ReplyPart & { text: string }>();
  usage: unknown;
  finishReason: unknown;

  take(part: ReplyPart): void {
    const [, kind, step] = /^(text|reasoning)-(start|delta|end)$/.exec(part.type) ?? [];
    if (kind !== undefined) this.#takeText(part, kind, step ?? "");
    else if (["tool-call", "tool-result", "file"].includes(part.type)) this.#content.push(part);
    else if (part.type === "finish") [this.usage, this.finishReason] = [part.usage, part.finishReason];
  }

  get content(): readonly ReplyPart[] {
    return this.#content;
  }

  #takeText(part: ReplyPart, kind: string, step: string): void {
    const id = `${kind} ${String(part.id)}`;
    if (step === "start") {
      const opened = { type: kind, text: "" };
      this.#open.set(id, opened);
      this.#content.push(opened);
    }
    const text = this.#open.get(id);
    if (text === undefined) return;
    if (step === "delta") text.text += String(part.delta ?? "");
    if (part.providerMetadata !== undefined) text.providerMetadata = part.providerMetadata;
  }
}
