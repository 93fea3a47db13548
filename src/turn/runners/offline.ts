import type { Config } from "../../config/index.ts";
import { isStatement, type MemoryHit, previewFacts } from "../../memory/index.ts";
import type { SearchResult } from "../../search/index.ts";
import type { Store } from "../../store/index.ts";
import { readEntries } from "../../transcript/index.ts";
import type { TurnServices } from "../turn.ts";
import type { Runner } from "./port.ts";

const memoriesShown = 5;
const passagesShown = 5;
const candidates = 30;
const snippetMax = 400;
/** The model name of replies that were written without a model. */
const offlineModel = "varve/offline";

/** Answers without a model: acknowledges a statement, and answers a question with what is certain, with citations. */
export function offlineRunner(
  { memory, sessions, store }: Pick<TurnServices, "memory" | "sessions" | "store">,
  why: string,
): Runner {
  return {
    name: "offline",
    takes: "prompt",
    async run(request) {
      const { prompt, session, asked } = request;
      const { agent } = session;
      const reply = (text: string) => {
        request.onText(text);
        const message = { role: "assistant" as const, content: text, model: offlineModel };
        return { message, finishReason: "stop" as const, notes: [] };
      };
      // A statement is not answered with what happens to share its words.
      if (isStatement(prompt)) return reply(acknowledge(prompt, why));
      const recalled = await memory.recallForPrompt({
        principal: await sessions.resolvePrincipal(session),
        agent,
        prompt,
        memoriesMax: memoriesShown,
        passagesMax: candidates,
        kinds: ["message", "summary", "chunk", "file"],
        always: true,
      });
      const passages = await withoutOwnReplies(store, agent, asked, recalled.passages);
      return reply(replyText(recalled.memories, passages.slice(0, passagesShown), why));
    },
  };
}

/** Leaves out the question itself and earlier answers of this runner. */
async function withoutOwnReplies(
  store: Store,
  agent: string,
  asked: ReadonlySet<string>,
  passages: readonly SearchResult[],
): Promise<SearchResult[]> {
  const seqs = passages.flatMap(({ seq }) => seq ?? []);
  const entries = new Map((await readEntries(store, agent, seqs, "reference")).map((entry) => [entry.seq, entry]));
  return passages.filter(({ seq }) => {
    const entry = seq === undefined ? undefined : entries.get(seq);
    return entry?.type !== "message" || (entry.message.model !== offlineModel && !asked.has(entry.id));
  });
}

/** Says what was noted of a statement. The message itself is in the transcript in any case. */
function acknowledge(prompt: string, why: string): string {
  const facts = previewFacts(prompt);
  const noted =
    facts.length === 0 ? "Stored in the history." : ["Noted:", ...facts.map((fact) => `- ${fact}`)].join("\n");
  return `${noted}\n\n${why}`;
}

function replyText(memories: readonly MemoryHit[], passages: readonly SearchResult[], why: string): string {
  const lines = [
    ...section(
      "From memory",
      memories.map(({ memory }) => line(memory.abstract, memory.id, memory.validFrom)),
    ),
    ...section(
      "From the history",
      passages.map(({ snippet, citation, time, sessionKey }) => line(snippet, citation, time, sessionKey)),
    ),
  ];
  const nothing = "Nothing here answers that.";
  return `${lines.length === 0 ? nothing : lines.join("\n")}\n\n${why}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines];
}

function line(text: string, citation: string, time: number, sessionKey: string | null = null): string {
  const flat = text.replace(/\s+/g, " ").trim();
  const short = flat.length > snippetMax ? `${flat.slice(0, snippetMax)}…` : flat;
  const where = [new Date(time).toISOString().slice(0, 10), sessionKey].filter(Boolean).join(", ");
  return `- ${short} [${citation}] (${where})`;
}

/** Why no model was asked. */
export function offlineNote(config: Config): string {
  return config.turn.runner === "offline"
    ? "(No model was asked: turn.runner is offline.)"
    : "(No model is configured, so this is what memory and history contain. To talk to one, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or `varve config set models.chat provider/model`.)";
}
