import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../domain/index.ts";
import { tokensOfUnit } from "./history.ts";
import { parseObject } from "./json.ts";
import { sseParser } from "./sse.ts";
import type { Insertion } from "./view.ts";
import type { AnsweredCall, Call, Format, Unit } from "./wire.ts";

/** One reply to the client, made of as many upstream replies as it takes to answer the calls of our tools. */
export interface Rounds {
  format: Format;
  ours: ReadonlySet<string>;
  isStream: boolean;
  roundsMax: number;
  /** Runs our tools; `round` counts from 0. */
  answer(calls: readonly Call[], inner: readonly Unit[]): Promise<AnsweredCall[]>;
  /** Asks the provider again, with what went on inside so far. */
  ask(inner: readonly Unit[], withheld: boolean): Promise<IncomingMessage>;
}

export interface RoundsResult {
  /** The upstream replies, in the order they came; the last may be cut. */
  bodies: JsonObject[];
  /** What is to be sent in place of the client's form of the reply; undefined when they are the same. */
  insertion?: Omit<Insertion, "coveredId">;
  /** False when the last reply did not come to its end. */
  isWhole: boolean;
  /** The answer of a provider that did not answer a later round. */
  refused?: IncomingMessage;
  /** The bytes of a reply that nobody here can read. */
  unreadable?: Buffer;
}

/** Yields what goes to the client's stream; its result says what became of it. */
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
    const isLast = calls.length === 0 || reply.isCut || round >= roundsMax;
    if (isLast) {
      const unit = calls.length === 0 ? reply.unit : strippedUnit(format, read.body, ours);
      if (isStream) yield editor.close(bodies);
      return { bodies, isWhole: true, ...insertionOf(format, inner.length === 0 ? [] : [...inner, unit]) };
    }
    const answered = await answer(calls, inner);
    const results = format.results(answered);
    if (calls.length < reply.calls.length) {
      // The client has calls of its own to answer; ours wait until it comes back with its results.
      if (isStream) yield editor.close(bodies);
      return { bodies, isWhole: true, ...insertionOf(format, [...inner, reply.unit], results) };
    }
    inner.push(reply.unit, results);
    response = await ask(inner, round + 1 >= roundsMax);
    if (response.statusCode === 200) continue;
    // What was looked up may have been too much. The reply can go on without it.
    response.resume();
    const nothing = answered.map((one) => ({ ...one, output: "There was no room for what was found.", isError: true }));
    inner.splice(-1, 1, format.results(nothing));
    response = await ask(inner, true);
    if (response.statusCode !== 200) return { bodies, isWhole: false, refused: response };
  }
}

interface ReadReply {
  body: JsonObject | undefined;
  isWhole: boolean;
  /** What came, where it did not come as a stream. */
  bytes?: Buffer;
}

async function* readStream(
  format: Format,
  editor: ReturnType<Format["editor"]>,
  response: IncomingMessage,
): AsyncGenerator<string, ReadReply> {
  const parser = sseParser();
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
    const rest = take(parser.rest());
    if (rest !== "") yield rest;
  } catch {
    // A connection that broke leaves a reply that is not over; the caller sees that.
    return { body: reader.body(), isWhole: false };
  }
  return { body: reader.body(), isWhole: reader.isOver() && reader.error() === undefined };
}

async function readWhole(response: IncomingMessage): Promise<ReadReply> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const body = parseObject(bytes);
  return { body, isWhole: body !== undefined, bytes };
}

function strippedUnit(format: Format, body: JsonObject, ours: ReadonlySet<string>): Unit {
  return format.read(format.merge([body], ours))?.unit ?? { wires: [] };
}

function insertionOf(format: Format, units: Unit[], pending?: Unit): Pick<RoundsResult, "insertion"> {
  if (units.length === 0 && pending === undefined) return {};
  const all = pending === undefined ? units : [...units, pending];
  const tokens = all.reduce((sum, unit) => sum + tokensOfUnit(format, unit), 0);
  return { insertion: { units, ...(pending === undefined ? {} : { pending }), tokens } };
}
