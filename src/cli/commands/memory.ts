import { VarveError } from "../../domain/index.ts";
import { type Category, type Memory, owner, type Requester } from "../../engine.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { number, table, when } from "../output.ts";

export interface MemoryFlags extends CommonOptions {
  scope?: string[];
  category?: Category;
  importance?: number;
  validFrom?: number;
  force?: boolean;
  text?: string;
  limit?: number;
  offset?: number;
  asOf?: number;
  history?: boolean;
  purge?: boolean;
  yes?: boolean;
  accept?: string;
  reject?: string;
}

/** The owner of the machine may name any scope. */
function asked({ scope }: MemoryFlags): Requester & { scopes?: string[] } {
  return scope === undefined ? {} : { principal: { ...owner, scopes: scope }, scopes: scope };
}

const said = {
  create: "Kept as new",
  skip: "Known already",
  support: "Known already, better supported now",
  supersede: "Kept; it takes the place of what was known",
  merge: "Merged with what was known",
  contextualize: "Kept beside what was known",
  contradict: "Kept; it contradicts what was known",
} as const;

export async function addCommand(words: string[], flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const { category, importance, validFrom, force } = flags;
    const [scope] = flags.scope ?? [];
    const text = words.join(" ");
    const done = await varve.memory.add({ ...asked(flags), text, category, importance, validFrom, force, scope });
    output.say(`${said[done.decision]}: ${done.current.id} ${done.current.abstract}`);
    output.result(done);
  });
}

export async function listCommand(flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const { category, limit, offset, asOf, history } = flags;
    const request = { ...asked(flags), category, limit, offset, asOf, includeHistory: history };
    const page = await varve.memory.list(request);
    output.show(page.memories.length === 0 ? "Nothing is remembered." : drawTable(page.memories));
    if (page.total > page.memories.length + (offset ?? 0))
      output.say(`\n${number(page.total)} in all; --offset shows more.`);
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
    const { category, limit, asOf, history } = flags;
    const query = words.join(" ");
    const found = await varve.memory.recall({ ...asked(flags), query, category, limit, asOf, includeHistory: history });
    for (const { memory, score, expired } of found.hits) {
      const sources = memory.sources.map((source) => `msg#${source.seq}`).join(" ") || memory.extractor;
      output.show(`${score.toFixed(2)} ${memory.id} ${memory.category}${expired ? ", expired" : ""}, ${sources}`);
      output.show(`     ${memory.abstract}`);
    }
    if (found.hits.length === 0) output.say("Nothing is remembered that fits.");
    if (found.note !== undefined) output.say(`(${found.note})`);
    output.result(found);
  });
}

export async function showCommand(words: string[], flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const id = await varve.memory.named(words.join(" "), asked(flags));
    const opened = await varve.memory.get(id, asked(flags));
    const { memory, evidence, missing, worth } = opened;
    const facts = table(
      [memory.id, `${memory.category}, ${memory.scope}, version ${memory.version}`],
      [
        ["written by", `${memory.extractor} (${memory.trust})`],
        [
          "believed",
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
    output.result(opened);
  });
}

export async function historyCommand(words: string[], flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const id = await varve.memory.named(words.join(" "), asked(flags));
    const versions = await varve.memory.history(id, asked(flags));
    output.show(drawTable(versions));
    output.result(versions);
  });
}

export async function updateCommand(words: string[], flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const id = await varve.memory.named(words.join(" "), asked(flags));
    const { text, importance, category } = flags;
    const memory = await varve.memory.update(id, { text, importance, category }, asked(flags));
    output.say(`Version ${memory.version}: ${memory.id} ${memory.abstract}`);
    output.result(memory);
  });
}

export async function forgetCommand(words: string[], flags: MemoryFlags): Promise<void> {
  if (flags.purge && !flags.yes) {
    throw new VarveError("REFUSED", "Purging erases a memory with all its versions; it cannot be undone.", {
      remedy: "Run it again with --yes, or without --purge to keep its history.",
    });
  }
  await withVarve(flags, async (varve, output) => {
    const id = await varve.memory.named(words.join(" "), asked(flags));
    const done = await varve.memory.forget({ id }, { ...asked(flags), purge: flags.purge });
    output.say(
      done.purged
        ? `Erased: ${done.memories.join(", ")}. The messages it came from stay in the transcript.`
        : `Forgotten: ${id}. \`varve memory history ${id}\` still shows it.`,
    );
    for (const file of done.backups) output.say(`  may still hold it: ${file}`);
    output.result(done);
  });
}

export async function statsCommand(flags: MemoryFlags): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const stats = await varve.memory.stats({ ...asked(flags), category: flags.category });
    const spread = (counts: Record<string, number>) =>
      Object.entries(counts)
        .map(([name, count]) => `${name} ${number(count)}`)
        .join(", ") || "none";
    output.show(
      table(
        ["MEMORIES", number(stats.total)],
        [
          ["believed now", number(stats.current)],
          ["history", `${number(stats.history)} (${number(stats.forgotten)} forgotten)`],
          ["waiting for review", number(stats.held)],
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
      const done = await varve.memory.decide(id, verdict, asked(flags));
      output.say(
        `${id} is ${verdict}${done === undefined ? "" : `: ${done.memory ?? done.match} (${done.decision})`}.`,
      );
      output.result({ id, verdict, ...done });
      return;
    }
    const reviews = await varve.memory.reviews(asked(flags));
    const rows = reviews.map((one) => [one.id, one.score.toFixed(2), one.candidate.category, one.candidate.abstract]);
    output.show(
      rows.length === 0 ? "Nothing waits for a decision." : table(["REVIEW", "SCORE", "CATEGORY", "WHAT"], rows),
    );
    output.result(reviews);
  });
}
