import type { JsonObject, JsonValue, Message, WireFormat } from "../domain/index.ts";
import type { SseEvent } from "./sse.ts";

/** A message or item in the provider's JSON format. */
export type Wire = JsonObject;

/** A message, or all items of one reply. A history is never cut inside a unit. */
export interface Unit {
  wires: Wire[];
}

/** The parts of a request that the proxy uses. */
export interface ParsedRequest {
  model: string;
  stream: boolean;
  /** The maximum answer, if the client sets it. */
  maxTokens?: number;
  /** The conversation without the instructions at its start. */
  units: Unit[];
  /** Text that counts towards the window in addition to the conversation: system prompt and tools. */
  fixedText: string;
  toolNames: ReadonlySet<string>;
  /** Whether tools may be added; not if the client requests several answers at once, for example. */
  mayOffer: boolean;
}

/** A tool of the engine that is offered to the model. */
export interface OfferedTool {
  name: string;
  description: string;
  schema: JsonObject;
}

/** The content that replaces the client's conversation. */
export interface Replacement {
  /** Replaces the older part; sent as the first message. */
  summary: string;
  /** Added to the system prompt; explains the summary. */
  addition?: string;
  units: readonly Unit[];
  tools: readonly OfferedTool[];
  /** Whether the model may no longer call the tools in this reply. */
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
  /** The tokens of the whole prompt, including cached ones. */
  input: number;
  output: number;
}

/** A provider's reply. */
export interface Reply {
  unit: Unit;
  /** All tool calls, of recall tools and of the client's tools. */
  calls: Call[];
  usage?: Usage;
  /** Whether the length limit cut it off: its last call may be incomplete. */
  isTruncated: boolean;
}

/** Assembles a streamed reply into the form of a reply that is not streamed. */
export interface ReplyReader {
  take(event: SseEvent): void;
  /** The reply so far; undefined when nothing was received. */
  body(): JsonObject | undefined;
  /** Whether the stream reported the end of the reply. */
  isComplete(): boolean;
  /** The error that the stream reported, if any. */
  error(): string | undefined;
}

/** Joins the streams of several upstream replies into one for the client, without the calls of recall tools. */
export interface StreamEditor {
  /** Starts another upstream reply. */
  begin(): void;
  /** Returns the text to send to the client for an event. */
  take(event: SseEvent): string;
  /** Returns the end of the client's stream; `bodies` are all upstream replies. */
  close(bodies: readonly JsonObject[]): string;
}

/** The request and reply format of a provider's API. */
export interface Format {
  readonly id: WireFormat;
  /** Returns undefined for a body of another form, which is forwarded unchanged. */
  parse(body: JsonObject): ParsedRequest | undefined;
  /** The identity of a unit: equal for a reply as it was received and as the client sends it back. */
  identity(unit: Unit): JsonValue;
  messages(unit: Unit): Message[];
  compose(body: JsonObject, replacement: Replacement): JsonObject;
  /** Creates the unit with the results of calls. */
  results(answered: readonly AnsweredCall[]): Unit;
  /** Joins our results with the client's results for other calls of the same reply. */
  join(results: Unit, next: Unit): Unit[];
  /**
   * For providers that may refuse a prompt inside the stream: whether an event is a refusal; undefined while it is
   * undecided.
   */
  judge?(event: SseEvent): { refusal?: string } | undefined;
  reader(): ReplyReader;
  read(body: JsonObject): Reply | undefined;
  /** Merges upstream replies into one, without the calls of the named tools. */
  merge(bodies: readonly JsonObject[], ours: ReadonlySet<string>): JsonObject;
  editor(ours: ReadonlySet<string>): StreamEditor;
  /** Creates an error in the provider's format. */
  error(status: number, message: string): JsonObject;
  /** Creates an error event for a stream. */
  errorEvent(message: string): string;
}
