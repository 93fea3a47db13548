import type { Store } from "../../store/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { makeTitle } from "../../transcript/index.ts";
import { toSummaryTurn } from "../compaction/make-summary.ts";
import type { ConversationRef, StoredSummary } from "../dag.ts";
import { loadFrontier } from "../frontier.ts";
import { readRequestLog, writeBuiltIn } from "../summary/built-in.ts";
import type { SummaryTurn } from "../summary/summary-request.ts";
import { isWorkLogText, parseWorkLog } from "../summary/work-log/parse.ts";
import { unifyPaths } from "../summary/work-log/paths.ts";
import { printWorkLog } from "../summary/work-log/print.ts";
import { readWorkLog } from "../summary/work-log/read.ts";
import { describeLog, titleOfLog } from "../summary/work-log/title.ts";
import { mergeWorkLogs, type WorkLog } from "../summary/work-log/work-log.ts";
import { timeWriter } from "../summary-text.ts";
import { chooseCut } from "../view/summary-cut.ts";
import { newestRaw } from "../window.ts";

/** The facts needed to continue a conversation: a title, one line, and the state of the work. */
export interface Handover {
  title?: string;
  description: string;
  /** The sections of a work log, or the sentences that matter. */
  text: string;
  tokens: number;
}

export interface HandoverOptions {
  /** The size of the text; 1,500 when absent. */
  tokens?: number;
  timeZone?: string;
}

const defaultTokens = 1_500;
/** The summaries are opened to this many times the size, so that the text is made from detail. */
const detailFactor = 8;
/** Requests are not cut below this many words; some are left out instead. */
const requestWords = 13;
/** The most messages after the summaries that are read. */
const messagesMax = 1_000;

/** Reads the state of a conversation from its summaries and the messages after them. It writes nothing. */
export async function readHandover(
  store: Store,
  ref: ConversationRef,
  options: HandoverOptions = {},
): Promise<Handover> {
  const { tokens = defaultTokens, timeZone } = options;
  const frontier = await loadFrontier(store, ref);
  const cut = await chooseCut(store, ref, frontier.summaries, { tokens: tokens * detailFactor, timeZone });
  const summaries = cut.flatMap((item) => item.summaries);
  const messages = await newestRaw(store, ref, frontier, messagesMax);
  const turns = messages.map(toSummaryTurn);
  const log = readLog(summaries, turns, timeZone);
  const sourceTokens = [
    ...summaries.map((one) => one.sourceMessageTokens),
    ...messages.map((one) => one.item.tokens),
  ].reduce((sum, one) => sum + one, 0);
  if (log !== undefined) {
    const text = printWorkLog(log, { targetTokens: tokens, sourceTokens, requestWordsMin: requestWords });
    const title = titleOfLog(log);
    return {
      ...(title === undefined ? {} : { title }),
      description: describeLog(log),
      text,
      tokens: estimateTokens(text),
    };
  }
  return readChat(summaries, turns, { tokens, timeZone, sourceTokens });
}

/** The merged log; the newest messages belong to the work even if they use no tools. */
function readLog(
  summaries: readonly StoredSummary[],
  turns: readonly SummaryTurn[],
  timeZone?: string,
): WorkLog | undefined {
  const logs = summaries.filter(({ content }) => isWorkLogText(content)).map(({ content }) => parseWorkLog(content));
  const newest =
    logs.length > 0 ? readWorkLog(turns, timeWriter(timeZone)) : readRequestLog({ depth: 0, turns }, timeZone);
  if (newest === undefined) return undefined;
  const merged = mergeWorkLogs([...logs, newest]);
  return { ...merged, files: unifyPaths(merged.files) };
}

/** A conversation without tools: the sentences that matter, and the first thing that was asked as its title. */
function readChat(
  summaries: readonly StoredSummary[],
  turns: readonly SummaryTurn[],
  { tokens, timeZone, sourceTokens }: { tokens: number; timeZone?: string; sourceTokens: number },
): Handover {
  const texts = summaries.map((one): SummaryTurn => ({ time: one.earliestAt, until: one.latestAt, text: one.content }));
  const [first, last] = [turns[0], turns.at(-1)];
  const newest =
    turns.length === 0
      ? []
      : [
          {
            time: first?.time ?? 0,
            until: last?.time ?? 0,
            text: writeBuiltIn({ depth: 0, turns }, { targetTokens: tokens, timeZone }),
          },
        ];
  const request = texts.length === 0 ? { depth: 0, turns } : { depth: 1, turns: [...texts, ...newest] };
  const text = writeBuiltIn({ ...request, sourceTokens }, { targetTokens: tokens, timeZone });
  const spoken = turns.filter(({ role }) => role === "user").map((turn) => turn.text);
  const title =
    spoken.map(makeTitle).find((one) => one !== undefined) ?? makeTitle(texts[0]?.text.split("\n")[0] ?? "");
  const count = summaries.reduce((sum, one) => sum + one.sourceMessageCount, 0) + turns.length;
  const newestTitle = spoken.length > 1 ? makeTitle(spoken.at(-1) ?? "") : undefined;
  const description = `${count} message${count === 1 ? "" : "s"}${newestTitle === undefined ? "" : `; last: ${newestTitle}`}`;
  return { ...(title === undefined ? {} : { title }), description, text, tokens: estimateTokens(text) };
}
