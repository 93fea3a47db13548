import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
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
  if (folder === undefined || !existsSync(folder)) {
    throw new VarveError("FILE_NOT_FOUND", `There is no data at ${folder ?? "(no folder was named)"}.`, {
      remedy: "Name the folder with --data DIR: one folder a dataset, one JSON file a conversation.",
    });
  }
  const datasets = new Map<string, Conversation[]>();
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (!statSync(path).isDirectory() || only?.includes(name) === false) continue;
    const files = readdirSync(path)
      .filter((file) => file.endsWith(".json"))
      .sort();
    datasets.set(
      name,
      files.map((file) => JSON.parse(readFileSync(join(path, file), "utf8")) as Conversation),
    );
  }
  const missing = only?.find((name) => !datasets.has(name));
  if (missing !== undefined) {
    throw new VarveError("FILE_NOT_FOUND", `There is no dataset ${JSON.stringify(missing)} in ${folder}.`, {
      remedy: `Name some of the folders in it: ${readdirSync(folder).sort().join(", ")}.`,
    });
  }
  return datasets;
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
export function parseTurnTime(text: string): number | undefined {
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
