import { getParts, type Message } from "../../domain/index.ts";
import {
  type AssembleRequest,
  estimateMessageTokens,
  isContextOverflow,
  type Session,
  type Varve,
} from "../../index.ts";
import { assembleFitting } from "./assemble-fitting.ts";
import { HistoryRecorder, type SentHistory } from "./history-recorder.ts";
import type { HostFormat } from "./host-format.ts";

export interface HostWindowOptions<T> {
  varve: Varve;
  session: Session;
  format: HostFormat<T>;
  sent?: SentHistory;
}

/** The messages that a host sends to the model instead of its own. */
export interface HostView<T> {
  messages: T[];
  /** To be added to the system prompt; explains the summaries. */
  systemPromptAddition?: string;
  estimatedTokens: number;
}

export type ViewRequest = Pick<AssembleRequest, "model" | "windowTokens" | "provider"> & { budgetTokens: number };

/** A view that was sent: the next steps of the same turn continue it, so that the provider's cache stays valid. */
interface SentView<T> {
  view: HostView<T>;
  /** The id of the last message that it has. */
  lastId: string;
  count: number;
}

/** Each attempt after an overflow uses this share of the budget before. */
const shrinkShare = 0.7;
export const overflowAttempts = 4;

/**
 * Keeps the conversation of a host in a session, and gives the messages that fit a model's window: summaries of what is
 * older, the recent messages, and what the newest request recalls.
 */
export class HostWindow<T> {
  readonly #options: HostWindowOptions<T>;
  readonly #recorder: HistoryRecorder<T>;
  #last: SentView<T> | undefined;

  constructor(options: HostWindowOptions<T>) {
    this.#options = options;
    this.#recorder = new HistoryRecorder(options.varve, options.session, options.format, options.sent ?? "all");
  }

  /** Stores the messages of a request, and returns what is sent instead of them. */
  async open(messages: readonly T[], request: ViewRequest): Promise<HostView<T>> {
    const ids = await this.#recorder.record(messages);
    const continued = this.#continue(messages, ids, request.budgetTokens);
    if (continued) return continued;
    return this.#assemble(messages, ids, request);
  }

  /** Stores a reply after the messages that it answers. */
  async close(messages: readonly T[], reply: T, facts: Partial<Message>): Promise<void> {
    await this.#recorder.record([...messages, reply], facts);
  }

  /** A smaller view after a provider refused the last one as too long; undefined for every other error. */
  async shrink(
    messages: readonly T[],
    request: ViewRequest,
    error: unknown,
    attempt: number,
  ): Promise<HostView<T> | undefined> {
    if (attempt >= overflowAttempts || !isContextOverflow(error)) return undefined;
    const { varve, session } = this.#options;
    const budgetTokens = Math.floor(request.budgetTokens * shrinkShare ** (attempt + 1));
    await varve.context.recoverFromOverflow(session, error, { windowTokens: budgetTokens, model: request.model });
    return this.#assemble(messages, await this.#recorder.record(messages), { ...request, budgetTokens });
  }

  /** Adds the messages of the next step to the last view, while they fit and nobody asks something new. */
  #continue(messages: readonly T[], ids: readonly string[], budgetTokens: number): HostView<T> | undefined {
    const last = this.#last;
    if (last === undefined || ids[last.count - 1] !== last.lastId) return undefined;
    const { format } = this.#options;
    const added = messages.slice(last.count);
    if (added.some((message) => format.isRequest(message))) return undefined;
    const tokens = added.reduce((sum, message) => sum + estimateMessageTokens(format.read(message)), 0);
    const estimatedTokens = last.view.estimatedTokens + tokens;
    if (estimatedTokens > budgetTokens) return undefined;
    return { ...last.view, messages: [...last.view.messages, ...added], estimatedTokens };
  }

  async #assemble(messages: readonly T[], ids: readonly string[], request: ViewRequest): Promise<HostView<T>> {
    const { varve, session, format } = this.#options;
    const newest = messages.at(-1);
    const prompt = newest !== undefined && format.isRequest(newest) ? readText(format.read(newest)) : "";
    const assembled = await assembleFitting(varve, session, { ...request, ...(prompt === "" ? {} : { prompt }) });
    const view: HostView<T> = {
      messages: assembled.messages.flatMap((message) => format.write(message)),
      estimatedTokens: assembled.estimatedTokens,
      ...(assembled.systemPromptAddition === undefined ? {} : { systemPromptAddition: assembled.systemPromptAddition }),
    };
    this.#last = { view, lastId: ids.at(-1) ?? "", count: messages.length };
    return view;
  }
}

function readText(message: Message): string {
  return getParts(message)
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("\n");
}
