import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../domain/index.ts";
import { estimateUnitTokens } from "./history.ts";
import { parseObject } from "./json.ts";
import { createSseParser } from "./sse.ts";
import type { Insertion } from "./view.ts";
import type { AnsweredCall, Call, Format, Unit } from "./wire.ts";

/** One reply to the client, made of several upstream replies when the model calls recall tools. */
export interface Rounds {
  format: Format;
  ours: ReadonlySet<string>;
  isStream: boolean;
  roundsMax: number;
  /** Runs recall tools. */
  answer(calls: readonly Call[], inner: readonly Unit[]): Promise<AnsweredCall[]>;
  /** Sends the next request, with the recall exchanges so far; `withheld` forbids further recall. */
  ask(inner: readonly Unit[], withheld: boolean): Promise<IncomingMessage>;
}

export interface RoundsResult {
  /** The upstream replies in order; the last one may be incomplete. */
  bodies: JsonObject[];
  /** The units to send instead of the client's version of the reply; undefined when they are the same. */
  insertion?: Omit<Insertion, "coveredId">;
  /** False when the last reply is incomplete. */
  isWhole: boolean;
  /** The provider's refusal of a later round. */
  refused?: IncomingMessage;
  /** The bytes of a reply that cannot be parsed. */
  unreadable?: Buffer;
}

/** Yields the client's stream and returns the outcome. */
export async function* runRounds(
  { format, ours, isStream, roundsMax, answer, ask }: Rounds,
  first: IncomingMessage,
): AsyncGenerator<string, RoundsResult> {
  const editor = format.editor(ours);
  const bodies: JsonObject[] = [];
  const inner: Unit[] = [];
  let response = first;
  for (let round = 0; ; round += 1) {
    editor.begin();
    const read = isStream ? yield* readStream(format, editor, response) : await readWhole(response);
    if (read.body !== undefined) bodies.push(read.body);
    const reply = read.body === undefined ? undefined : format.read(read.body);
    if (!read.isWhole || read.body === undefined || reply === undefined) {
      const unreadable = read.bytes === undefined ? {} : { unreadable: read.bytes };
      return { bodies, isWhole: false, ...unreadable };
    }
    const calls = reply.calls.filter(({ name }) => ours.has(name));
    const isLast = calls.length === 0 || reply.isTruncated || round >= roundsMax;
    if (isLast) {
      const unit = calls.length === 0 ? reply.unit : stripOwnCalls(format, read.body, ours);
      if (isStream) yield editor.close(bodies);
      return { bodies, isWhole: true, ...createInsertion(format, inner.length === 0 ? [] : [...inner, unit]) };
    }
    const answered = await answer(calls, inner);
    const results = format.results(answered);
    if (calls.length < reply.calls.length) {
      // The client has calls of its own to answer; our results are sent together with its results.
      if (isStream) yield editor.close(bodies);
      return { bodies, isWhole: true, ...createInsertion(format, [...inner, reply.unit], results) };
    }
    inner.push(reply.unit, results);
    response = await ask(inner, round + 1 >= roundsMax);
    if (response.statusCode === 200) continue;
    // The results may have been too long: try again without them.
    response.resume();
    const emptyResults = answered.map((one) => ({
      ...one,
      output: "The results did not fit into the context window.",
      isError: true,
    }));
    inner.splice(-1, 1, format.results(emptyResults));
    response = await ask(inner, true);
    if (response.statusCode !== 200) return { bodies, isWhole: false, refused: response };
  }
}

interface ReadReply {
  body: JsonObject | undefined;
  isWhole: boolean;
  /** The answer, when it is not a stream. */
  bytes?: Buffer;
}

async function* readStream(
  format: Format,
  editor: ReturnType<Format["editor"]>,
  response: IncomingMessage,
): AsyncGenerator<string, ReadReply> {
  const parser = createSseParser();
  const reader = format.reader();
  const take = (events: ReturnType<typeof parser.push>): string => {
    let out = "";
    for (const event of events) {
      reader.take(event);
      out += editor.take(event);
    }
    return out;
  };
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const out = take(parser.push(chunk));
      if (out !== "") yield out;
    }
    const rest = take(parser.finish());
    if (rest !== "") yield rest;
  } catch {
    // A broken connection means an incomplete reply.
    return { body: reader.body(), isWhole: false };
  }
  return { body: reader.body(), isWhole: reader.isComplete() && reader.error() === undefined };
}

async function readWhole(response: IncomingMessage): Promise<ReadReply> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const body = parseObject(bytes);
  return { body, isWhole: body !== undefined, bytes };
}

function stripOwnCalls(format: Format, body: JsonObject, ours: ReadonlySet<string>): Unit {
  return format.read(format.merge([body], ours))?.unit ?? { wires: [] };
}

function createInsertion(format: Format, units: Unit[], pending?: Unit): Pick<RoundsResult, "insertion"> {
  if (units.length === 0 && pending === undefined) return {};
  const all = pending === undefined ? units : [...units, pending];
  const tokens = all.reduce((sum, unit) => sum + estimateUnitTokens(format, unit), 0);
  return { insertion: { units, ...(pending === undefined ? {} : { pending }), tokens } };
}
