import type { OpenOptions, StoreTap, Varve } from "../../src/index.ts";
import type { DatabaseKind } from "../support/databases.ts";
import type { Rng } from "../support/rng.ts";

/** Where an operation works: one database, with a home and a folder for files. */
export interface Place {
  kind: DatabaseKind;
  database: string;
  home: string;
  folder: string;
  seed: number;
}

/** A step as plain data, from which the parent knows what to expect. */
export type Step = Record<string, string | number>;

/**
 * Where in its work a process is killed. It does not depend on time whether a step is under way: the child stops before
 * the step it must not begin, and does not acknowledge the step it is killed in.
 */
export type KillPoint =
  /** While the database is being opened, before the first step. */
  | { at: "opening" }
  /** At any instant after a step has begun. */
  | { at: "instant"; step: number }
  /** At a call to the store during a step; at the end of the step when it makes fewer calls. */
  | { at: "call"; step: number; call: number; when: "before" | "after" }
  /** After the work of a step, before it is acknowledged. */
  | { at: "end"; step: number };

/** What an operation sees of the process it runs in. */
export interface Worker {
  place: Place;
  /** Which process on this database it is: the first, the second, … */
  child: number;
  random: Rng;
  /** Sees every call to the store; `open` passes it on, and an operation that opens a store itself does so too. */
  tap: StoreTap;
  open(options?: Pick<OpenOptions, "models" | "config">): Promise<Varve>;
  /** Does a step and acknowledges it once its promise has resolved; facts that only then are known go along. */
  step<T>(step: Step, work: () => Promise<T>, facts?: (value: T) => Step): Promise<T>;
  /** Acknowledges something that the work under way reports itself. */
  acknowledge(step: Step): void;
}

/** What one process reported until it was killed. */
export interface Run {
  child: number;
  done: Step[];
  /** Begun and never acknowledged: each may have happened wholly or not at all. */
  pending: Step[];
}

/** What a check found. */
export interface Seen {
  /** Messages that were acknowledged in this run. */
  acknowledged: number;
  /** Steps that were under way: those that happened wholly, and those that left nothing. */
  whole: number;
  absent: number;
}

/** Holds what must be in one database by now; throws when it is not. */
export interface Verifier {
  check(varve: Varve, run: Run): Promise<Seen>;
  /** Brings the work to its end, after the last kill. */
  finish?(varve: Varve): Promise<void>;
}

export interface Operation {
  name: string;
  /** Fills the database before the first process starts. */
  prepare?(place: Place): Promise<void>;
  /** The last step that a process may be killed in; slow steps have a small number. */
  stepsMax: number;
  /** Works in small acknowledged steps until it is killed. */
  run(worker: Worker): Promise<void>;
  verifier(place: Place): Verifier;
}
