import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/index.ts";
import { readStoredValue, type StoredValue } from "./stored-values.ts";

/** A checkpoint in the states of its thread. */
export interface CheckpointRow {
  /** The checkpoint that it continues. */
  parent?: string;
  /** The checkpoint without the values of its channels. */
  checkpoint: StoredValue;
  metadata: StoredValue;
  /** The values of channels by name, or the names of the states that have them. */
  channels: [name: string, value: StoredValue | string][];
  /** The last message of the log at this checkpoint. */
  head: string | null;
}

/** A write of a task that is not part of a checkpoint yet. */
export interface WriteRow {
  task: string;
  index: number;
  channel: string;
  value: StoredValue;
}

/** Larger values have a state of their own, so that checkpoints with the same value share it. */
const inlineMax = 1_000;

export const checkpointPrefix = (namespace: string) => `langgraph:checkpoint:${JSON.stringify(namespace)}:`;
export const checkpointName = (namespace: string, id: string) => checkpointPrefix(namespace) + id;
export const writesName = (namespace: string, id: string) => `langgraph:writes:${JSON.stringify(namespace)}:${id}`;
export const latestPrefix = "langgraph:latest:";
export const latestName = (namespace: string) => latestPrefix + namespace;

export interface PlacedValue {
  /** The value for a checkpoint: itself, or the name of the state that has it. */
  placed: StoredValue | string;
  /** The state to write. */
  states: Readonly<Record<string, JsonValue>>;
}

export function placeValue(value: StoredValue): PlacedValue {
  const text = JSON.stringify(value);
  if (text.length <= inlineMax) return { placed: value, states: {} };
  const name = `langgraph:value:${createHash("sha256").update(text).digest("hex")}`;
  return { placed: name, states: { [name]: toJson(value) } };
}

export function readCheckpointRow(value: JsonValue): CheckpointRow {
  const row = isJsonObject(value) ? value : {};
  return {
    ...(typeof row.parent === "string" ? { parent: row.parent } : {}),
    checkpoint: readStoredValue(row.checkpoint),
    metadata: readStoredValue(row.metadata),
    channels: (Array.isArray(row.channels) ? row.channels : []).map((channel) => {
      const [name, placed] = Array.isArray(channel) ? channel : [];
      return [String(name), typeof placed === "string" ? placed : readStoredValue(placed)];
    }),
    head: typeof row.head === "string" ? row.head : null,
  };
}

export function readWriteRows(value: JsonValue | undefined): WriteRow[] {
  return (Array.isArray(value) ? value : []).filter(isJsonObject).map((row) => ({
    task: String(row.task),
    index: Number(row.index),
    channel: String(row.channel),
    value: readStoredValue(row.value),
  }));
}

/** Rows as JSON, without the fields that are undefined. */
export function toJson(row: object): JsonObject {
  return JSON.parse(JSON.stringify(row)) as JsonObject;
}
