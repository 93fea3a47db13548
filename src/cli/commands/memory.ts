import { VarveError } from "../../domain/index.ts";
import {
  type Category,
  type Memory,
  type MemoryHit,
  owner,
  type Requester,
  type Session,
  type Varve,
} from "../../index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { number, table, when } from "../output.ts";

export interface MemoryFlags extends CommonOptions {
  scope?: string[];
  category?: Category;
  importance?: number;
  validFrom?: number;
  force?: boolean;
  replaces?: string;
  text?: string;
  limit?: number;
  offset?: number;
  asOf?: number;
  history?: boolean;
  purge?: boolean;
  past?: boolean;
  dryRun?: boolean;
  yes?: boolean;
  accept?: string;
  reject?: string;
  refused?: boolean;
  explain?: boolean;
}

/** The command line acts for the owner, who may name any scope. */
function requesterFor({ scope }: MemoryFlags): Requester & { scopes?: string[] } {
  return scope === undefined ? {} : { principal: { ...owner, scopes: scope }, scopes: scope };
}

const decisionTexts = {
  create: "Stored",
  skip: "Already known",
  support: "Already known; counted as further support",
  supersede: "Stored; it supersedes an earlier memory",
  merge: "Merged with an earlier memory",
  contextualize: "Stored as an addition to an earlier memory",
  contradict: "Stored; it contradicts an earlier memory",
} as const;

export async function addCommand(words: string[], flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const { category, importance, validFrom, force, replaces } = flags;
    const [scope] = flags.scope ?? [];
    const text = words.join(" ");
    const done = await varve.memory.add({
      ...requesterFor(flags),
      text,
      category,
      importance,
      validFrom,
      force,
      replaces,
      scope,
    });
    output.say(`${decisionTexts[done.decision]}: ${done.current.id} ${done.current.abstract}`);
    for (const id of done.conflicts ?? []) {
      output.say(`  Perhaps in conflict with ${id}; both are kept. \`varve memory review\` shows them together.`);
    }
    output.result(done);
  });
}

export async function listCommand(flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const { category, limit, offset, asOf, history } = flags;
    const request = { ...requesterFor(flags), category, limit, offset, asOf, includeHistory: history };
    const page = await varve.memory.list(request);
    output.show(page.memories.length === 0 ? "There are no memories." : drawTable(page.memories));
    if (page.total > page.memories.length + (offset ?? 0))
      output.say(`\n${number(page.total)} in total; use --offset to see more.`);
    output.result(page);
  });
}

function drawTable(memories: readonly Memory[]): string {
  const rows = memories.map((one) => [
    one.id,
    one.category,
    one.tier,
    when(one.validFrom),
    one.invalidatedAt === undefined ? "" : when(one.invalidatedAt),
    one.abstract.slice(0, 80),
  ]);
  return table(["MEMORY", "CATEGORY", "TIER", "SINCE", "UNTIL", "WHAT"], rows);
}

export async function searchCommand(words: string[], flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const { category, limit, asOf, history, explain } = flags;
    const query = words.join(" ");
    const found = await varve.memory.recall({
      ...requesterFor(flags),
      query,
      category,
      limit,
      asOf,
      includeHistory: history,
      explain,
    });
    for (const hit of found.hits) output.show(describeHit(hit));
    for (const { name, ms, candidates } of found.steps ?? [])
      output.say(`${name}: ${candidates} candidates, ${ms.toFixed(1)} ms`);
    if (found.hits.length === 0) output.say("No memory matches.");
    if (found.note !== undefined) output.say(`(${found.note})`);
    output.result(found);
  });
}

function describeHit({ memory, score, expired, tentative, notes = [], stages }: MemoryHit): string {
  const sources = memory.sources.map((source) => `msg#${source.seq}`).join(" ") || memory.extractor;
  const facts = [
    memory.category,
    ...(expired ? ["expired"] : []),
    ...(tentative ? ["tentative"] : []),
    sources,
    ...notes,
  ];
  const trace = Object.entries(stages ?? {}).map(([name, value]) => `${name} ${value.toFixed(2)}`);
  return [
    `${score.toFixed(2)} ${memory.id} ${facts.join(", ")}`,
    `     ${memory.abstract}`,
    ...(trace.length === 0 ? [] : [`     ${trace.join(" → ")}`]),
  ].join("\n");
}

export async function showCommand(words: string[], flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const id = await varve.memory.named(words.join(" "), requesterFor(flags));
    const opened = await varve.memory.get(id, requesterFor(flags));
    const { memory, evidence, missing, withheld, worth } = opened;
    const facts = table(
      [memory.id, `${memory.category}, ${memory.scope}, version ${memory.version}`],
      [
        ["written by", `${memory.extractor} (${memory.trust})`],
        [
          "valid",
          `${when(memory.validFrom)} – ${memory.invalidatedAt === undefined ? "now" : when(memory.invalidatedAt)}`,
        ],
        [
          "worth",
          `${worth.composite.toFixed(2)}${worth.stale ? " (stale)" : ""}, ${memory.tier}, used ${number(memory.accessCount)} times`,
        ],
        ["importance, confidence", `${memory.importance}, ${memory.confidence.toFixed(2)}`],
      ],
    );
    output.show(`${facts}\n\n${memory.content}\n`);
    for (const one of evidence) output.show(`${one.citation} ${when(one.time)} ${one.role}: “${one.quote}”`);
    for (const citation of missing) output.show(`${citation} was deleted`);
    for (const citation of withheld) output.show(`${citation} is in a conversation that cannot be seen here`);
    output.result(opened);
  });
}

export async function historyCommand(words: string[], flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const id = await varve.memory.named(words.join(" "), requesterFor(flags));
    const versions = await varve.memory.history(id, requesterFor(flags));
    output.show(drawTable(versions));
    output.result(versions);
  });
}

export async function updateCommand(words: string[], flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const id = await varve.memory.named(words.join(" "), requesterFor(flags));
    const { text, importance, category, past } = flags;
    const memory = await varve.memory.update(id, { text, importance, category, past }, requesterFor(flags));
    output.say(`Version ${memory.version}: ${memory.id} ${memory.abstract}`);
    output.result(memory);
  });
}

export async function forgetCommand(words: string[], flags: MemoryFlags): Promise<void> {
  if (flags.purge && !flags.yes) {
    throw new VarveError("REFUSED", "Purging erases a memory and all its versions, and cannot be undone.", {
      remedy: "Run the command again with --yes, or without --purge to keep the history.",
    });
  }
  await withVarve(flags, async (varve, output) => {
    const id = await varve.memory.named(words.join(" "), requesterFor(flags));
    const done = await varve.memory.forget({ id }, { ...requesterFor(flags), purge: flags.purge });
    output.say(
      done.purged
        ? `Erased: ${done.memories.join(", ")}. The messages it was extracted from remain in the transcript.`
        : `Forgotten: ${id}. \`varve memory history ${id}\` still shows it.`,
    );
    for (const file of done.backups) output.say(`  This backup may still contain it: ${file}`);
    output.result(done);
  });
}

export async function statsCommand(flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const stats = await varve.memory.stats({ ...requesterFor(flags), category: flags.category });
    const spread = (counts: Record<string, number>) =>
      Object.entries(counts)
        .map(([name, count]) => `${name} ${number(count)}`)
        .join(", ") || "none";
    output.show(
      table(
        ["MEMORIES", number(stats.total)],
        [
          ["current", number(stats.current)],
          ["history", `${number(stats.history)} (${number(stats.forgotten)} forgotten)`],
          ["tentative", number(stats.held)],
          ...(stats.unread.messages === 0
            ? []
            : [
                [
                  "history to read",
                  `${number(stats.unread.messages)} messages of ${number(stats.unread.conversations)} conversations`,
                ],
              ]),
          ["scopes", spread(stats.byScope)],
          ["categories", spread(stats.byCategory)],
          ["tiers", spread(stats.byTier)],
          ["written by", spread(stats.byExtractor)],
        ],
      ),
    );
    output.result(stats);
  });
}

export async function reviewCommand(flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const id = flags.accept ?? flags.reject;
    if (id !== undefined) {
      const verdict = flags.accept === undefined ? "rejected" : "accepted";
      const done = await varve.memory.decide(id, verdict, requesterFor(flags));
      output.say(
        `${id} is ${verdict}${done === undefined ? "" : `: ${done.memory ?? done.match} (${done.decision})`}.`,
      );
      output.result({ id, verdict, ...done });
      return;
    }
    const conflicts = flags.refused ? [] : await varve.memory.conflicts(requesterFor(flags));
    for (const [first, second] of conflicts) {
      output.show(`Perhaps in conflict:\n  ${first.id} ${first.abstract}\n  ${second.id} ${second.abstract}`);
    }
    if (conflicts.length > 0) {
      output.say(
        "Forget one of two with `varve memory forget ID`, or replace it with `varve memory add … --replaces ID`.",
      );
    }
    const reviews = await varve.memory.reviews({ ...requesterFor(flags), refused: flags.refused });
    const rows = reviews.map((one) => [one.id, one.score.toFixed(2), one.candidate.category, one.candidate.abstract]);
    const nothing = flags.refused
      ? "Admission refused nothing in the last 30 days."
      : `There is nothing${conflicts.length > 0 ? " else" : ""} to review.`;
    output.show(rows.length === 0 ? nothing : table(["REVIEW", "SCORE", "CATEGORY", "WHAT"], rows));
    output.result(reviews);
  });
}

/** Extraction continues after the last message it has read, so that it can be stopped and run again. */
export async function extractCommand(name: string | undefined, flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const sessions = name === undefined ? await listAllSessions(varve) : [await varve.sessions.get(name)];
    const results: { session: string; messages: number; memories: number; facts?: string[] }[] = [];
    for (const session of sessions) {
      if (flags.dryRun) {
        const { messages, facts } = await varve.memory.previewExtraction(session);
        for (const { text, category, citations } of facts)
          output.show(`(${category}) ${text} [${citations.join(", ")}]`);
        results.push({ session: session.key, messages, memories: facts.length, facts: facts.map((one) => one.text) });
        continue;
      }
      const result = { session: session.key, messages: 0, memories: 0 };
      for (;;) {
        const batches = await varve.memory.extract(session);
        if (batches.length === 0) break;
        for (const { messages, applied } of batches) {
          result.messages += messages;
          result.memories += applied.filter((one) => one.memory !== undefined).length;
        }
        output.say(`${session.key}: ${number(result.messages)} messages, ${number(result.memories)} memories`);
      }
      results.push(result);
    }
    const total = results.reduce((sum, one) => sum + one.memories, 0);
    const verb = flags.dryRun ? "would be extracted" : "extracted";
    output.say(`${number(total)} memories ${verb} from ${number(results.length)} sessions.`);
    output.result(results);
  });
}

const sessionsPage = 200;

async function listAllSessions(varve: Varve): Promise<Session[]> {
  const sessions: Session[] = [];
  for (let after: string | undefined; ; ) {
    const page = await varve.sessions.list({
      limit: sessionsPage,
      all: true,
      ...(after === undefined ? {} : { after }),
    });
    sessions.push(...page.sessions);
    if (page.next === undefined) return sessions;
    after = page.next;
  }
}
