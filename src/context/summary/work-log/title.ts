import { makeTitle, shortenWords } from "../../../transcript/index.ts";
import type { WorkLog } from "./work-log.ts";

/** The title of a log: its first request that names something. */
export function titleOfLog({ requests }: WorkLog): string | undefined {
  for (const { text } of requests) {
    const title = makeTitle(text);
    if (title !== undefined) return title;
  }
  return undefined;
}

const namesMax = 3;

/** One line about a log: how much was asked and changed, how the checks stand, what is open. */
export function describeLog({ requests, files, checks, todos }: WorkLog): string {
  const count = (list: readonly unknown[], name: string) => `${list.length} ${name}${list.length === 1 ? "" : "s"}`;
  const parts = [count(requests, "request")];
  if (files.length > 0) {
    const names = files
      .toReversed()
      .slice(0, namesMax)
      .map(({ path }) => path.split("/").at(-1));
    parts.push(`${count(files, "file")} changed (${names.join(", ")}${files.length > namesMax ? ", …" : ""})`);
  }
  const last = checks.findLast(({ outcome }) => outcome !== "unknown");
  if (last !== undefined) parts.push(`${last.text} ${last.outcome}`);
  const open = todos.filter(({ state }) => state !== "done").length;
  if (todos.length > 0) parts.push(`${open} of ${count(todos, "todo")} open`);
  const newest = requests.at(-1);
  if (newest !== undefined && requests.length > 1) parts.push(`last: ${shortenWords(newest.text, 14)}`);
  return parts.join("; ");
}
