import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Message, VarveError } from "../index.ts";

/** A long conversation with questions and the evidence turns of each. */
export interface Conversation {
  dataset: string;
  id: string;
  turns: { id: string; session: string; time: string; speaker: string; text: string }[];
  questions: { id: string; category: string; question: string; answer: string; evidence: string[] }[];
}

/** The conversations in a folder, or of some datasets in it: each subfolder is a dataset, each JSON file a conversation. */
export function loadDatasets(folder: string | undefined, only?: readonly string[]): Map<string, Conversation[]> {
  if (folder === undefined || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new VarveError("FILE_NOT_FOUND", `There is no folder at ${folder ?? "(no folder was named)"}.`, {
      remedy:
        "Name the folder with --data DIR: one folder a dataset with one JSON file a conversation, or transcripts.",
    });
  }
  const datasets = new Map<string, Conversation[]>();
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (!statSync(path).isDirectory() || only?.includes(name) === false) continue;
    if (!isDataset(path)) continue;
    datasets.set(
      name,
      listJsonFiles(path).map((file) => JSON.parse(readFileSync(file, "utf8")) as Conversation),
    );
  }
  const missing = only?.find((name) => !datasets.has(name));
  if (missing !== undefined) {
    throw new VarveError("FILE_NOT_FOUND", `There is no dataset ${JSON.stringify(missing)} in ${folder}.`, {
      remedy: `Name some of the folders in it that are datasets: ${readdirSync(folder).sort().join(", ")}.`,
    });
  }
  return datasets;
}

function listJsonFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => join(folder, file));
}

/** Whether a folder contains conversations with questions, judged by its first file; an export of chats has none. */
function isDataset(folder: string): boolean {
  const [first] = listJsonFiles(folder);
  if (first === undefined) return false;
  const value: unknown = JSON.parse(readFileSync(first, "utf8"));
  return typeof value === "object" && value !== null && "turns" in value && "questions" in value;
}

/** The files and folders in a data folder that are not datasets: transcripts, in any format that is imported. */
export function listTranscriptPaths(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .map((entry) => ({ entry, path: join(folder, entry.name) }))
    .filter(({ entry, path }) => (entry.isDirectory() ? !isDataset(path) : isTranscriptName(entry.name)))
    .map(({ path }) => path)
    .sort();
}

function isTranscriptName(name: string): boolean {
  return /\.jsonl$|^conversations\.json$/i.test(name);
}

/** The turns as messages with speakers and times, a second apart where the source gives only a day. */
export function toMessages(conversation: Conversation): Message[] {
  let last = 0;
  return conversation.turns.map((turn): Message => {
    last = Math.max(last + 1000, parseTurnTime(turn.time) ?? last + 1000);
    const role = turn.speaker === "assistant" ? "assistant" : "user";
    return { id: turn.id, role, name: turn.speaker, content: turn.text, time: last };
  });
}

/** The time formats of the sources: `1:56 pm on 8 May, 2023`, `29.12.2023, 00:51:12`, `March-15-2024`. */
function parseTurnTime(text: string): number | undefined {
  const spoken = /^(\d{1,2}):(\d\d)\s*([ap]m) on (\d{1,2} \w+, \d{4})$/i.exec(text);
  if (spoken) {
    const hour = (Number(spoken[1]) % 12) + (spoken[3]?.toLowerCase() === "pm" ? 12 : 0);
    const day = Date.parse(`${spoken[4]} UTC`);
    return Number.isNaN(day) ? undefined : day + hour * 3_600_000 + Number(spoken[2]) * 60_000;
  }
  const dotted = /^(\d\d)\.(\d\d)\.(\d{4}), (\d\d):(\d\d):(\d\d)$/.exec(text);
  if (dotted) {
    const [day, month, year, hour, minute, second] = dotted.slice(1).map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    return Date.UTC(year, month - 1, day, hour, minute, second);
  }
  const parsed = Date.parse(`${text.replaceAll("-", " ")} UTC`);
  return Number.isNaN(parsed) ? undefined : parsed;
}
