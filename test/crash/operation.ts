import type { OpenOptions, Varve } from "../../src/engine.ts";
import type { DatabaseKind } from "../support/databases.ts";
import type { Rng } from "../support/rng.ts";

/** Where an operation works: one database, with a home and a folder for files beside it. */
export interface Place {
  kind: DatabaseKind;
  database: string;
  home: string;
  folder: string;
  seed: number;
}

/** A step as plain data, from which the parent knows what to expect. */
export type Step = Record<string, string | number>;

/** What an operation sees of the process it runs in. */
export interface Worker {
  place: Place;
  /** Which process on this database it is: the first, the second, … */
  child: number;
  random: Rng;
  open(options?: Pick<OpenOptions, "models">): Promise<Varve>;
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
  /** Works in small acknowledged steps until it is killed. */
  run(worker: Worker): Promise<void>;
  verifier(place: Place): Verifier;
}
