import type { JsonObject, JsonValue, Message, WireFormat } from "../domain/index.ts";
import type { SseEvent } from "./sse.ts";

/** One message, or one item, exactly as a provider's API takes it. */
export type Wire = JsonObject;

/** What belongs together on the wire: a message, or all the items of one reply. A history is never cut inside one. */
export interface Unit {
  wires: Wire[];
}

/** A request, as far as the proxy has to understand it. */
export interface Opened {
  model: string;
  stream: boolean;
  /** What the answer may take of the window, where the client says it. */
  maxTokens?: number;
  /** The conversation, without what stands before it for good. */
  units: Unit[];
  /** What is sent beside the conversation and counts towards the window: system prompt, tools. */
  fixedText: string;
  toolNames: ReadonlySet<string>;
  /** Whether tools may be added: not where several answers are asked for at once, for example. */
  mayOffer: boolean;
}

/** A tool of the engine, as a provider is told of it. */
export interface OfferedTool {
  name: string;
  description: string;
  schema: JsonObject;
}

/** What is sent in place of the client's own conversation. */
export interface Replacement {
  /** Stands for the older part; the first message. */
  summary: string;
  /** What the system prompt says about it. */
  addition?: string;
  units: readonly Unit[];
  tools: readonly OfferedTool[];
  /** Whether the tools may not be used any more in this reply. */
  withheld?: boolean;
}

export interface Call {
  id: string;
  name: string;
  input: JsonValue;
}

export interface AnsweredCall extends Call {
  output: string;
  isError: boolean;
}

export interface Usage {
  /** The whole prompt, what a cache served included. */
  input: number;
  output: number;
}

/** What a provider answered. */
export interface Reply {
  unit: Unit;
  /** Every call of a tool that somebody has to answer, whoever that is. */
  calls: Call[];
  usage?: Usage;
  /** Whether it was cut off by its length: a call at its end may be half a call. */
  isCut: boolean;
}

/** Puts a streamed reply together, in the shape of one that is not streamed. */
export interface ReplyReader {
  take(event: SseEvent): void;
  /** What came so far; undefined when that is nothing. */
  body(): JsonObject | undefined;
  /** Whether the stream said that the reply is over. */
  isOver(): boolean;
  /** What the stream said went wrong, where it did. */
  error(): string | undefined;
}

/** Makes one stream for the client out of the streams of several upstream replies, without the calls of our tools. */
export interface StreamEditor {
  /** Another upstream reply begins. */
  begin(): void;
  /** What of an event goes to the client now. */
  take(event: SseEvent): string;
  /** What ends the client's stream, when `bodies` are all the replies it was made of. */
  close(bodies: readonly JsonObject[]): string;
}

/** A provider's way of writing requests and replies. */
export interface Format {
  readonly id: WireFormat;
  /** Undefined for what is no request of this format: it is forwarded as it is. */
  open(body: JsonObject): Opened | undefined;
  /** What makes a unit itself: the same whether it is as it was answered or as a client sends it again. */
  identity(unit: Unit): JsonValue;
  messages(unit: Unit): Message[];
  compose(body: JsonObject, replacement: Replacement): JsonObject;
  /** The results of calls, as the unit that follows them. */
  results(answered: readonly AnsweredCall[]): Unit;
  /** The results of some calls together with what the client sends for the others of the same reply. */
  join(results: Unit, next: Unit): Unit[];
  /**
   * Where a provider may refuse a prompt inside of its stream: what an event says about that, or undefined when nothing is
   * decided by it.
   */
  judge?(event: SseEvent): { refusal?: string } | undefined;
  reader(): ReplyReader;
  read(body: JsonObject): Reply | undefined;
  /** Several upstream replies as one, without the calls of the named tools. */
  merge(bodies: readonly JsonObject[], ours: ReadonlySet<string>): JsonObject;
  editor(ours: ReadonlySet<string>): StreamEditor;
  /** An error in the provider's own shape. */
  error(status: number, message: string): JsonObject;
  /** The same inside a stream. */
  errorEvent(message: string): string;
}
