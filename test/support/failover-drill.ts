/** People talk to two gateways while a server or a gateway fails; then the log is compared with what they were told. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startPostgresCluster } from "../../scripts/postgres-cluster.ts";
import { startScratchPgbouncer } from "../../scripts/scratch-pgbouncer.ts";
import { type ConfigInput, openVarve } from "../../src/index.ts";
import { getText } from "../../src/turn/turn.ts";
import { sha256 } from "../e2e/gateway-stage.ts";
import { type ChatBody, lastUserText, startChatServer } from "./chat-server.ts";
import { Counter } from "./counter.ts";
import { HandClock } from "./engines.ts";

export const failoverScenarios = [
  "primary killed",
  "primary silent",
  "behind pgbouncer",
  "primary silent behind pgbouncer",
  "gateway killed",
] as const;
export type FailoverScenario = (typeof failoverScenarios)[number];

export interface FailoverDrillOptions {
  scenario: FailoverScenario;
  conversations: number;
  turns: number;
  /** The settings of the gateways; the defaults of the others apply. */
  settings: Pick<ConfigInput, "store" | "turn">;
  /** How long after the failure somebody promotes the standby. */
  promoteAfterMs?: number;
  say(line: string): void;
}

export interface FailoverReport {
  scenario: FailoverScenario;
  /** Messages whose answer a person got. */
  answered: number;
  /** Of those, what is not in the log, or is in it more than once or in another order. */
  lost: string[];
  doubled: string[];
  disordered: string[];
  /** Turns that ended without a reply. */
  failed: string[];
  /** Requests that got no answer and were sent again. */
  refused: number;
  /** For each conversation, the longest time without an answer after the failure. */
  resumedMs: number[];
  /** What `varve doctor` found. */
  faults: string[];
}

const database = "varve";
const token = "the-token-of-this-drill";
const child = fileURLToPath(new URL("../crash/gateway-child.ts", import.meta.url));

interface Gateway {
  process: ChildProcess;
  port: number;
}

export async function runFailoverDrill(options: FailoverDrillOptions): Promise<FailoverReport> {
  const { scenario, conversations, turns, settings, promoteAfterMs = 0, say } = options;
  const home = mkdtempSync(join(tmpdir(), "varve-failover-"));
  const asked = new Counter();
  const server = await startChatServer(
    (body: ChatBody) => {
      asked.add();
      return { text: `re: ${lastUserText(body)}`, pieces: 6, delayMs: 15 };
    },
    { latencyMs: 30 },
  );
  const cluster = await startPostgresCluster(database);
  const bouncer = scenario.endsWith("behind pgbouncer") ? await startScratchPgbouncer(cluster.primary.port) : undefined;
  const address = bouncer ? `postgres://postgres@127.0.0.1:${bouncer.port}/${database}` : cluster.address(database);
  say("a primary and a synchronous standby are ready");
  const gateways: Gateway[] = [];
  const start = async (): Promise<void> => {
    const args = [child, home, address, server.url, sha256(token), JSON.stringify(settings)];
    const started = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    started.unref();
    const [line] = (await once(started.stdout ?? started, "data")) as [Buffer];
    gateways.push({ process: started, port: Number(String(line)) });
  };
  const fail = async (): Promise<void> => {
    if (scenario === "gateway killed") {
      gateways.shift()?.process.kill("SIGKILL");
      return;
    }
    if (scenario.startsWith("primary silent")) cluster.freezePrimary();
    else cluster.killPrimary();
    await sleep(promoteAfterMs);
    await cluster.promoteStandby();
    bouncer?.moveTo(cluster.standby.port);
    say("the standby is promoted");
  };
  try {
    await start();
    await start();
    const talks = new Talks(conversations, turns);
    let failedAt = Number.POSITIVE_INFINITY;
    const failure = (async () => {
      await asked.until(Math.floor((conversations * turns) / 3));
      say(`${scenario}: now`);
      failedAt = performance.now();
      await fail();
    })();
    const people = Array.from({ length: conversations }, (_, person) => talks.talk(person, gateways));
    await Promise.all([failure, ...people]);
    say("everybody got an answer to everything");
    const checked = await compareLog(home, scenario === "gateway killed" ? address : cluster.standby.url, talks);
    return { scenario, ...talks.report(failedAt), ...checked };
  } finally {
    for (const { process: one } of gateways) one.kill("SIGKILL");
    await server.close();
    await bouncer?.stop();
    await cluster.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** People who send one message after another, and send it again under the same id when they get no answer. */
class Talks {
  readonly conversations: number;
  readonly turns: number;
  readonly #answers: number[][];
  readonly #failed: string[] = [];
  #refused = 0;

  constructor(conversations: number, turns: number) {
    this.conversations = conversations;
    this.turns = turns;
    this.#answers = Array.from({ length: conversations }, () => []);
  }

  async talk(person: number, gateways: readonly Gateway[]): Promise<void> {
    for (let turn = 0; turn < this.turns; turn += 1) {
      for (let attempt = 0; ; attempt += 1) {
        const gateway = gateways[(person + turn + attempt) % gateways.length];
        if (gateway && (await this.#ask(gateway.port, person, turn))) break;
        this.#refused += 1;
        await sleep(50);
      }
      this.#answers[person]?.push(performance.now());
    }
  }

  async #ask(port: number, person: number, turn: number): Promise<boolean> {
    const text = messageText(person, turn);
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/api/turns`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ id: `${person}-${turn}`, session: sessionKey(person), text }),
      });
      const result = (await answer.json()) as { status?: string; reply?: string };
      if (answer.status >= 500) return false;
      if (result.status !== "replied" || result.reply !== `re: ${text}`) this.#failed.push(JSON.stringify(result));
      return true;
    } catch {
      // The gateway is gone, or closed the connection: the message is sent again.
      return false;
    }
  }

  report(failedAt: number): Pick<FailoverReport, "answered" | "failed" | "refused" | "resumedMs"> {
    // An answer that was on its way already says nothing, so the longest wait counts.
    const waits = this.#answers.flatMap((times) => {
      const later = times.filter((time) => time > failedAt);
      const each = later.map((time, index) => time - (later[index - 1] ?? failedAt));
      return each.length === 0 ? [] : [Math.round(Math.max(...each))];
    });
    return {
      answered: this.#answers.flat().length,
      failed: this.#failed,
      refused: this.#refused,
      resumedMs: waits,
    };
  }
}

function messageText(person: number, turn: number): string {
  return `person ${person} turn ${turn}`;
}

function sessionKey(person: number): string {
  return `agent:main:talk:direct:p${person}`;
}

async function compareLog(
  home: string,
  address: string,
  { conversations, turns }: Talks,
): Promise<Pick<FailoverReport, "lost" | "doubled" | "disordered" | "faults">> {
  const url = address.replace(/\/postgres$/, `/${database}`);
  // The clock stands still: no lease expires while the log is read.
  const varve = await openVarve({ home, database: url, background: false, clock: new HandClock(Date.now()) });
  const report = { lost: [] as string[], doubled: [] as string[], disordered: [] as string[], faults: [] as string[] };
  try {
    for (let person = 0; person < conversations; person += 1) {
      const session = await varve.sessions.get(sessionKey(person));
      const { entries } = await varve.transcripts.read(session, { limit: 10_000 });
      const said = entries.flatMap((entry) =>
        entry.type === "message" ? [`${entry.message.role} ${getText(entry.message)}`] : [],
      );
      const expected = Array.from({ length: turns }, (_, turn) => messageText(person, turn)).flatMap((text) => [
        `user ${text}`,
        `assistant re: ${text}`,
      ]);
      report.lost.push(...expected.filter((text) => !said.includes(text)));
      report.doubled.push(...said.filter((text, index) => said.indexOf(text) !== index));
      if (said.length === expected.length && said.some((text, index) => text !== expected[index])) {
        report.disordered.push(sessionKey(person));
      }
    }
    const { findings } = await varve.doctor();
    report.faults = findings.flatMap((finding) => finding.faults.map((fault) => String(fault)));
    return report;
  } finally {
    await varve.close();
  }
}
