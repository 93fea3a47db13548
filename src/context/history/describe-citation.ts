import type { Visibility } from "../../authorization/index.ts";
import { type Entry, VarveError } from "../../domain/index.ts";
import { getMemory, type Memory } from "../../memory/index.ts";
import type { Store } from "../../store/index.ts";
import { type FileMetadata, findFile, readEntries, readFileContents, type StoredFile } from "../../transcript/index.ts";
import { describeSummary, findSummary, type SummaryDescription } from "./describe-summary.ts";

/** Lines of a file, counted from 1. */
export interface FileLines {
  startLine: number;
  endLine: number;
  totalLines: number;
  text: string;
  /** A note about omitted content; absent when nothing was omitted. */
  cut?: string;
}

export type Description =
  | ({ kind: "summary"; conversation: number } & SummaryDescription)
  | {
      kind: "file";
      conversation: number;
      file: FileMetadata & Pick<StoredFile, "byModel">;
      entries: string[];
      lines?: FileLines;
    }
  | { kind: "message"; conversation: number; entry: Entry }
  | { kind: "memory"; conversation?: undefined; memory: Memory };

export interface DescribeOptions extends Visibility {
  tokenCap: number;
  /** Whether to include the content of a file, and which lines. */
  expandFile?: boolean;
  startLine?: number;
  endLine?: number;
}

const charactersPerToken = 4;

/** Opens a citation: a summary, a file, a message or a memory. */
export async function describeCitation(store: Store, id: string, options: DescribeOptions): Promise<Description> {
  if (/^sum_/.test(id)) {
    const { conversation } = await findSummary(store, options.agent, id);
    if (!isVisible(options, conversation)) throw notFound(id);
    return { kind: "summary", conversation, ...(await describeSummary(store, options.agent, id, options.tokenCap)) };
  }
  if (/^mem_/.test(id)) return { kind: "memory", memory: await getMemory(store.db, options, id) };
  if (/^file_/.test(id)) return describeFile(store, id, options);
  const seq = /^(?:msg#)?(\d{1,15})$/.exec(id)?.[1];
  if (seq !== undefined) {
    const [found] = await readEntries(store, options.agent, [Number(seq)], "reference");
    if (!found || !isVisible(options, found.conversation)) throw notFound(id);
    const { conversation, ...entry } = found;
    return { kind: "message", conversation, entry };
  }
  throw new VarveError("BAD_REQUEST", `${JSON.stringify(id)} is not the id of anything that can be described.`, {
    remedy: "Send a citation: sum_… for a summary, file_… for large content, msg#N for a message, mem_… for a memory.",
  });
}

function isVisible({ conversations }: DescribeOptions, conversation: number): boolean {
  return conversations === undefined || conversations.includes(conversation);
}

function notFound(id: string): VarveError {
  return new VarveError("NOT_FOUND", `There is no ${id} here.`, {
    remedy: "Take an id from lcm_grep, or search all conversations if it belongs to another one.",
  });
}

async function describeFile(store: Store, id: string, options: DescribeOptions): Promise<Description> {
  const { entries, ...file } = await findFile(store, options.agent, id);
  const held = entries.find((one) => isVisible(options, one.conversation));
  if (!held) throw notFound(id);
  const citations = entries.filter((one) => isVisible(options, one.conversation)).map((one) => `msg#${one.seq}`);
  const base = { kind: "file" as const, conversation: held.conversation, file, entries: citations };
  if (!options.expandFile && options.startLine === undefined && options.endLine === undefined) return base;
  const content = (await readFileContents(store.db, options.agent, [id])).get(id) ?? "";
  return { ...base, lines: selectLines(content, options) };
}

function selectLines(content: string, options: DescribeOptions): FileLines {
  const lines = content.split("\n");
  const startLine = options.startLine ?? 1;
  const last = Math.min(options.endLine ?? lines.length, lines.length);
  if (startLine < 1 || startLine > lines.length || last < startLine) {
    throw new VarveError(
      "BAD_REQUEST",
      `The file has the lines 1 to ${lines.length}, not ${startLine} to ${options.endLine ?? "its end"}.`,
      {
        remedy: "Send startLine and endLine within these, the first not behind the last.",
      },
    );
  }
  const charactersMax = options.tokenCap * charactersPerToken;
  let characters = 0;
  let endLine = startLine - 1;
  while (endLine < last) {
    characters += (lines[endLine]?.length ?? 0) + 1;
    if (characters > charactersMax && endLine >= startLine) break;
    endLine += 1;
  }
  const whole = lines.slice(startLine - 1, endLine).join("\n");
  const text = whole.slice(0, charactersMax);
  const cuts = [
    ...(endLine < last ? [`lines ${endLine + 1} to ${last} are left out: ask for them by startLine`] : []),
    ...(text.length < whole.length
      ? [`line ${startLine} is cut after ${text.length} of ${whole.length} characters`]
      : []),
  ];
  const cut = cuts.length === 0 ? {} : { cut: `${cuts.join("; ")}; a larger tokenCap shows more` };
  return { startLine, endLine, totalLines: lines.length, text, ...cut };
}
