import type { Config } from "../../config/index.ts";
import { readEntries } from "../../transcript/index.ts";
import type { Found, TurnHost } from "../host.ts";
import type { Runner, RunRequest } from "./port.ts";

const memoriesShown = 5;
const passagesShown = 5;
const candidates = 30;
const snippetMax = 400;
/** Under this name the log knows what was answered without a model. */
export const offlineModel = "varve/offline";

/** No model: what memory and history hold, with where it is from. */
export function offlineRunner(host: Pick<TurnHost, "memory" | "find" | "store">, why: string): Runner {
  return {
    name: "offline",
    takes: "prompt",
    async run(request) {
      const { prompt, session } = request;
      const [memories, passages] = await Promise.all([
        host.memory.recall(session.agent, prompt, memoriesShown),
        host.find(session.agent, prompt, candidates).then((found) => withoutEchoes(host, request, found)),
      ]);
      const text = replyText(memories, passages.slice(0, passagesShown), why);
      request.onText(text);
      return { message: { role: "assistant", content: text, model: offlineModel }, finishReason: "stop", notes: [] };
    },
  };
}

/** The question itself, earlier ones in the same words, and earlier answers of this kind say nothing new. */
async function withoutEchoes(
  { store }: Pick<TurnHost, "store">,
  { session, prompt, asked }: RunRequest,
  found: readonly (Found & { seq?: number })[],
): Promise<Found[]> {
  const seqs = found.flatMap(({ seq }) => seq ?? []);
  const entries = new Map(
    (await readEntries(store, session.agent, seqs, "reference")).map((entry) => [entry.seq, entry]),
  );
  const same = normal(prompt);
  return found.filter(({ seq, text }) => {
    const entry = seq === undefined ? undefined : entries.get(seq);
    if (normal(text) === same) return false;
    if (entry?.type !== "message") return true;
    return entry.message.model !== offlineModel && !asked.has(entry.id);
  });
}

function normal(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

function replyText(memories: readonly Found[], passages: readonly Found[], why: string): string {
  const lines = [...section("From memory", memories), ...section("From the history", passages)];
  const nothing = "Nothing in memory or history fits that.";
  return `${lines.length === 0 ? nothing : lines.join("\n")}\n\n${why}`;
}

function section(title: string, found: readonly Found[]): string[] {
  if (found.length === 0) return [];
  return [`${title}:`, ...found.map(line), ""].slice(0, found.length + 1);
}

function line({ text, citation, time, sessionKey }: Found): string {
  const flat = text.replace(/\s+/g, " ").trim();
  const short = flat.length > snippetMax ? `${flat.slice(0, snippetMax)}…` : flat;
  const when = time === undefined ? "" : new Date(time).toISOString().slice(0, 10);
  const where = [when, sessionKey].filter(Boolean).join(", ");
  return `- ${short} [${citation}]${where === "" ? "" : ` (${where})`}`;
}

/** What the offline runner says of itself. */
export function offlineNote(config: Config): string {
  return config.turn.runner === "offline"
    ? "(No model was asked: turn.runner is offline.)"
    : "(No model is configured, so this is what memory and history hold. To talk to one, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or `varve config set models.chat provider/model`.)";
}
