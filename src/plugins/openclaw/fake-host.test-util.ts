import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../domain/index.ts";
import { createContextEngine } from "./context-engine.ts";
import type { CommitParams, ContextEngine } from "./host-types.ts";
import { parsePluginSettings } from "./plugin-settings.ts";
import { closeSharedEngine, getSharedState, openSharedEngine } from "./shared-engine.ts";
import type { FindParent } from "./subagents.ts";

/** What OpenClaw is for the plugin: transcripts, and a log. */
export class FakeHost {
  readonly home = mkdtempSync(join(tmpdir(), "varve-openclaw-host-"));
  readonly settings = parsePluginSettings({ home: join(this.home, "varve") });
  readonly logged: string[] = [];
  findParent: FindParent = () => undefined;
  readonly #events = new Map<string, JsonObject[]>();

  constructor() {
    mkdirSync(join(this.home, "varve"));
    writeFileSync(join(this.home, "varve", "config.yaml"), "search:\n  embedder: none\n");
    getSharedState().loadSdk = async () => ({
      buildMemorySystemPromptAddition: () => "## Memory",
      readSessionTranscriptRawDelta: async ({ sessionId = "", cursor }) => {
        const events = this.#events.get(sessionId);
        if (events === undefined) return { kind: "missing" };
        const records = events.map((event, seq) => ({ seq, event })).slice(Number(cursor ?? 0));
        return { kind: "page", cursor: String(events.length), hasMore: false, events: records };
      },
    });
  }

  openVarve() {
    return openSharedEngine(this.settings);
  }

  /** The engine of a turn. */
  createEngine(): Promise<ContextEngine> {
    const log = (text: string) => this.logged.push(text);
    const logger = { info: log, warn: log, error: log };
    return createContextEngine({ settings: this.settings, logger, agentDir: this.home, findParent: this.findParent });
  }

  /** Adds messages to a transcript, and gives what OpenClaw commits for them. */
  addTurn(sessionKey: string, messages: JsonObject[]): CommitParams {
    const sessionId = sessionKey.replaceAll(":", "-");
    const stamp = "2026-11-17T10:00:00.000Z";
    const events = this.#events.get(sessionId) ?? [{ type: "session", version: 4, id: sessionId, timestamp: stamp }];
    const first = events.length;
    for (const message of messages) {
      const parentId = events.length === 1 ? null : (events.at(-1)?.id ?? null);
      const timestamp = new Date(Date.parse(stamp) + events.length * 1000).toISOString();
      events.push({ type: "message", id: `${sessionId}-${events.length}`, parentId, timestamp, message });
    }
    this.#events.set(sessionId, events);
    const anchor = { agentId: "main", storePath: join(this.home, "openclaw-agent.sqlite") };
    const sessionTarget = { agentId: "main", sessionId, sessionKey };
    return {
      ...{ advancementKey: `turn-${first}`, sessionId, sessionKey, sessionTarget, messages },
      admission: { ...anchor, entryId: String(first), rawSeq: first },
      terminal: { ...anchor, entryId: String(events.length - 1), rawSeq: events.length - 1 },
    };
  }

  addEvent(sessionKey: string, event: JsonObject): void {
    this.#events.get(sessionKey.replaceAll(":", "-"))?.push(event);
  }

  /** Ends what a process has in its memory. */
  async restart(): Promise<void> {
    await closeSharedEngine();
    getSharedState().subagents.clear();
  }

  async close(): Promise<void> {
    await closeSharedEngine();
    rmSync(this.home, { recursive: true, force: true });
  }
}

export const user = (content: string): JsonObject => ({ role: "user", content });
export const reply = (text: string): JsonObject => ({ role: "assistant", content: [{ type: "text", text }] });
