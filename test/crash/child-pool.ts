/** The parent's side of a child process: started ahead of time, given a job, killed, and what it reported read. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleChild } from "./bundle-child.ts";
import type { Job } from "./child.ts";
import type { Run, Step } from "./operation.ts";

const program = await bundleChild();

interface Line {
  ready?: true;
  opened?: true;
  begin?: number;
  done?: number | null;
  step?: Step;
}

export class Child {
  private readonly process: ChildProcess;
  private readonly begun = new Map<number, Step>();
  private readonly done: Step[] = [];
  private readonly listeners = new Set<() => void>();
  private readonly ended: Promise<unknown>;
  private rest = "";
  private isLoaded = false;
  private startedAt = 0;
  private stepBeganAt = 0;
  private stepsBegun = 0;
  private errors = "";
  /** How long it took from the job to the first step; undefined before that. */
  openingMs: number | undefined;
  /** How long the last acknowledged step took. */
  stepMs: number | undefined;

  constructor() {
    // Compiled code is kept between processes: starting one is most of the cost of a kill.
    const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "varve-crash-compile-cache") };
    this.process = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "pipe"], env });
    this.process.stdout?.setEncoding("utf8").on("data", (text: string) => this.read(text));
    this.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.errors += text;
    });
    this.process.stdin?.on("error", (error) => {
      this.errors += `${error}\n`;
    });
    this.ended = once(this.process, "close").then(() => this.notify());
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  async start(job: Job): Promise<void> {
    await this.until(() => this.isLoaded);
    this.startedAt = performance.now();
    this.process.stdin?.write(`${JSON.stringify(job)}\n`);
  }

  /** Waits until so many steps have begun. */
  untilBegun(steps: number): Promise<void> {
    return this.until(() => this.stepsBegun >= steps);
  }

  /** Waits until so many steps are acknowledged. */
  untilDone(steps: number): Promise<void> {
    return this.until(() => this.done.length >= steps);
  }

  /** Kills it, and returns what it had reported until then. */
  kill(child: number): Promise<Run> {
    this.process.kill("SIGKILL");
    return this.untilKilled(child);
  }

  /** Waits until it has been killed, by itself or by `kill`, and returns what it had reported until then. */
  async untilKilled(child: number): Promise<Run> {
    await this.ended;
    if (this.process.signalCode !== "SIGKILL") throw this.failure();
    return { child, done: this.done, pending: [...this.begun.values()] };
  }

  /** Waits for its own end. */
  async finish(child: number): Promise<Run> {
    await this.ended;
    if (this.process.exitCode !== 0) throw this.failure();
    return { child, done: this.done, pending: [...this.begun.values()] };
  }

  private read(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.take(JSON.parse(line) as Line);
    this.notify();
  }

  private take({ ready, opened, begin, done, step }: Line): void {
    const now = performance.now();
    if (ready) this.isLoaded = true;
    if (opened || begin !== undefined) this.openingMs ??= now - this.startedAt;
    if (begin !== undefined && step) {
      this.begun.set(begin, step);
      this.stepsBegun = begin;
      this.stepBeganAt = now;
    }
    if (done === undefined || !step) return;
    if (done !== null) {
      this.begun.delete(done);
      this.stepMs = now - this.stepBeganAt;
    }
    this.done.push(step);
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** Waits for a report. A child that ends instead is an error; how long one may take is the test's own limit. */
  private async until(isTrue: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = () => {
      if (isTrue()) resolve();
      else if (this.process.exitCode !== null || this.process.signalCode !== null) reject(this.failure());
    };
    this.listeners.add(look);
    look();
    try {
      await promise;
    } finally {
      this.listeners.delete(look);
    }
  }

  private failure(): Error {
    const { exitCode, signalCode } = this.process;
    return new Error(`the child ended by itself (${exitCode ?? signalCode}):\n${this.errors}`);
  }
}

/** Children that wait for work, so that the next one starts at once. */
export class ChildPool {
  private readonly waiting: Child[] = [];
  private readonly ahead: number;

  constructor(ahead = 1) {
    this.ahead = ahead;
  }

  take(): Child {
    while (this.waiting.length < this.ahead + 1) this.waiting.push(new Child());
    return this.waiting.shift()!;
  }

  async close(): Promise<void> {
    for (const child of this.waiting) await child.kill(0);
  }
}
