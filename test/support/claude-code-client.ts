/** Claude Code as far as it matters to a store: requests with the whole history, and a transcript with a line per block. */
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";

type Block = Anthropic.ContentBlockParam;

export interface ClaudeCodeOptions {
  /** A folder of its own. */
  folder: string;
  sessionId: string;
  /** Where requests go to; the provider itself, unless it is the proxy. */
  baseUrl: string;
  apiKey?: string;
  subagent?: string;
}

let rows = 0;

export class ClaudeCodeClient {
  readonly path: string;
  readonly sessionId: string;
  baseUrl: string;
  apiKey: string;
  messages: Anthropic.MessageParam[] = [];
  readonly #subagent: string | undefined;
  #parent: string | null = null;
  /** The last line of each message. */
  readonly #parents: (string | null)[] = [];

  constructor({ folder, sessionId, baseUrl, apiKey = "sk-client", subagent }: ClaudeCodeOptions) {
    const project = join(folder, "projects", "-work");
    this.path =
      subagent === undefined
        ? join(project, `${sessionId}.jsonl`)
        : join(project, sessionId, "subagents", `agent-${subagent}.jsonl`);
    mkdirSync(dirname(this.path), { recursive: true });
    this.sessionId = sessionId;
    this.baseUrl = baseUrl;
    this.apiKey = apiKey;
    this.#subagent = subagent;
  }

  /** Sends a prompt, and the results of all calls that the model makes. */
  async prompt(text: string): Promise<void> {
    this.#write({ type: "user", message: { role: "user", content: text } });
    const reminder: Block = { type: "text", text: "<system-reminder>\nToday is Monday.\n</system-reminder>" };
    const isFirst = this.messages.length === 0;
    this.messages.push({ role: "user", content: [...(isFirst ? [reminder] : []), { type: "text", text }] });
    this.#keepParent();
    for (;;) {
      const reply = await this.#ask();
      const calls = reply.content.filter((block) => block.type === "tool_use");
      this.messages.push({ role: "assistant", content: reply.content });
      const { content, ...rest } = reply;
      for (const block of content) this.#write({ type: "assistant", message: { ...rest, content: [block] } });
      this.#keepParent();
      if (calls.length === 0) return;
      const results = calls.map(
        ({ id }): Block => ({ type: "tool_result", tool_use_id: id, content: `result of ${id}` }),
      );
      this.messages.push({ role: "user", content: results });
      for (const result of results) this.#write({ type: "user", message: { role: "user", content: [result] } });
      this.#keepParent();
    }
  }

  /** Asks the model for a summary, writes it to the file and continues from it. */
  async compact(): Promise<void> {
    const history = this.messages;
    this.messages = [...history, { role: "user", content: "Summarise this conversation." }];
    const { content } = await this.#ask();
    const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
    const summary = `This session is being continued. ${/<summary>([\s\S]*)<\/summary>/.exec(text)?.[1] ?? text}`;
    const logicalParentUuid = this.#parent;
    this.#parent = null;
    this.#write({ type: "system", subtype: "compact_boundary", logicalParentUuid, compactMetadata: {} });
    this.#write({ type: "user", isCompactSummary: true, message: { role: "user", content: summary } });
    this.messages = [{ role: "user", content: summary }];
  }

  /** Takes the last prompts back, with what followed them. */
  rewind(messages: number): void {
    this.messages = this.messages.slice(0, messages);
    this.#parent = this.#parents[messages - 1] ?? null;
  }

  /** A line that no request contains. */
  note(): void {
    this.#write({ type: "system", subtype: "turn_duration", durationMs: 5 });
  }

  #ask(): Promise<Anthropic.Message> {
    const client = new Anthropic({
      apiKey: this.apiKey,
      baseURL: this.baseUrl,
      maxRetries: 0,
      defaultHeaders: { "x-claude-code-session-id": this.sessionId },
    });
    const tools: Anthropic.Tool[] = [{ name: "shell", input_schema: { type: "object" } }];
    const request = { model: "claude-local", max_tokens: 200, messages: this.messages, tools };
    return client.messages.stream(request).finalMessage();
  }

  #keepParent(): void {
    this.#parents[this.messages.length - 1] = this.#parent;
  }

  #write(row: Record<string, unknown>): void {
    rows += 1;
    const uuid = `00000000-0000-4000-8000-${String(rows).padStart(12, "0")}`;
    const timestamp = new Date(1_790_000_000_000 + rows * 60_000).toISOString();
    const side = this.#subagent === undefined ? { isSidechain: false } : { isSidechain: true, agentId: this.#subagent };
    const common = { parentUuid: this.#parent, ...side, uuid, timestamp, sessionId: this.sessionId, cwd: "/work" };
    appendFileSync(this.path, `${JSON.stringify({ ...common, ...row })}\n`);
    this.#parent = uuid;
  }
}
