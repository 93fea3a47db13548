/** One chat: what was said before, and the turn that runs. */
import { type Signal, signal } from "@preact/signals";
import { ApiError, call, explainError } from "../../api/client.ts";
import { attempt, say as toast } from "../../state/toasts.ts";
import type { SessionEntry } from "../session/queries.ts";
import {
  type Attachment,
  type Recall,
  readRecall,
  sendTurn,
  stopTurn,
  type TurnEvent,
  type TurnResult,
} from "./queries.ts";

/** A turn as it is seen here. */
export interface LiveTurn {
  text: string;
  reply: string;
  reasoning: string;
  tools: { callId: string; name: string; input: unknown; result?: string; isError?: boolean }[];
  runner?: string;
  result?: TurnResult;
  recall?: Recall;
  fault?: string;
}

export interface Chat {
  history: Signal<SessionEntry[]>;
  turns: Signal<LiveTurn[]>;
  isRunning: Signal<boolean>;
  load(): Promise<void>;
  say(text: string, attachments: Attachment[]): Promise<void>;
  stop(): Promise<void>;
  retry(): Promise<void>;
}

const historyMax = 40;

export function createChat(key: string): Chat {
  const history = signal<SessionEntry[]>([]);
  const turns = signal<LiveTurn[]>([]);
  const isRunning = signal(false);
  const update = (change: (turn: LiveTurn) => LiveTurn): void => {
    const last = turns.value.at(-1);
    if (last) turns.value = [...turns.value.slice(0, -1), change(last)];
  };
  const say: Chat["say"] = async (text, attachments) => {
    turns.value = [...turns.value, { text, reply: "", reasoning: "", tools: [] }];
    isRunning.value = true;
    try {
      await sendTurn(
        { session: key, text, attachments },
        (event) => update((turn) => applyEvent(turn, event)),
        new AbortController().signal,
      );
      const recall = await readRecall(key);
      update((turn) => ({ ...turn, recall }));
    } catch (error) {
      update((turn) => ({ ...turn, fault: explainError(error) }));
    } finally {
      isRunning.value = false;
    }
  };
  return {
    history,
    turns,
    isRunning,
    async load() {
      const query = { limit: historyMax, content: "reference" };
      try {
        history.value = (await call("GET /api/sessions/{key}/messages", { params: { key }, query })).entries;
      } catch (error) {
        // A session begins with its first message.
        if (!(error instanceof ApiError && error.status === 404)) toast(explainError(error), undefined, true);
      }
    },
    say,
    async stop() {
      await attempt(() => stopTurn(key));
    },
    async retry() {
      const last = turns.value.at(-1);
      if (last) await say(last.text, []);
    },
  };
}

function applyEvent(turn: LiveTurn, event: TurnEvent): LiveTurn {
  switch (event.type) {
    case "accepted":
      return turn;
    case "started":
      return { ...turn, runner: [event.runner, event.model].filter(Boolean).join(", ") };
    case "text":
      return { ...turn, reply: turn.reply + event.text };
    case "reasoning":
      return { ...turn, reasoning: turn.reasoning + event.text };
    case "tool-call":
      return { ...turn, tools: [...turn.tools, { callId: event.callId, name: event.name, input: event.input }] };
    case "tool-result":
      return {
        ...turn,
        tools: turn.tools.map((tool) =>
          tool.callId === event.callId ? { ...tool, result: event.text, isError: event.isError } : tool,
        ),
      };
    case "restarted":
      return { ...turn, reply: "", reasoning: "", tools: [] };
    case "ended":
      return { ...turn, result: event.result, reply: event.result.reply || turn.reply };
  }
}
