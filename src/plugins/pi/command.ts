import { neutralise } from "../../domain/index.ts";
import type { Varve } from "../../index.ts";

const resultsMax = 8;
const help =
  "Use /varve status, /varve search WORDS, /varve remember TEXT, /varve recall WORDS or /varve forget WORDS.";

/** Answers `/varve` in pi. */
export async function answerCommand(varve: Varve, words: string): Promise<string> {
  const [, name = "", text = ""] = /^\s*(\S*)\s*([\s\S]*)$/.exec(words) ?? [];
  const query = text.trim();
  if (name !== "status" && name !== "" && query === "") return help;
  switch (name) {
    case "":
    case "status": {
      const { sessions, messages, tokens, home } = await varve.status();
      return `Varve keeps ${messages} messages of ${sessions} sessions (about ${tokens} tokens) in ${home}.\n${help}`;
    }
    case "search": {
      const { results, confidence } = await varve.search.find(query, { limit: resultsMax });
      if (results.length === 0) return `Nothing was found for “${query}”.`;
      const lines = results.map(
        ({ citation, snippet }) => `${citation}  ${neutralise(snippet.replaceAll(/\s+/g, " "))}`,
      );
      return [`Confidence: ${confidence}.`, ...lines].join("\n");
    }
    case "remember": {
      const { current } = await varve.memory.add({ text: query });
      return `Remembered as ${current.id}: ${current.content}`;
    }
    case "recall": {
      const { hits } = await varve.memory.recall({ query, limit: resultsMax });
      return hits.length === 0
        ? `No memory matches “${query}”.`
        : hits.map(({ memory }) => `${memory.id}  ${memory.content}`).join("\n");
    }
    case "forget": {
      const forgotten = await varve.memory.forget({ query });
      return `Forgotten: ${JSON.stringify(forgotten)}`;
    }
    default:
      return `There is no /varve ${name}. ${help}`;
  }
}
