/** A session of a coding agent as turns, for tests. */
import type { JsonValue, Message, Part } from "../../../domain/index.ts";
import type { SummaryTurn } from "../summary-request.ts";

export class WorkSession {
  readonly turns: SummaryTurn[] = [];
  private time: number;

  constructor(time = Date.UTC(2026, 2, 3, 9)) {
    this.time = time;
  }

  user(text: string, name?: string): this {
    return this.add({ role: "user", content: text, ...(name === undefined ? {} : { name }) });
  }

  assistant(text: string): this {
    return this.add({ role: "assistant", content: text });
  }

  /** A call with its result; `output` may be an error. */
  tool(name: string, input: JsonValue, output = "ok", isError?: boolean): this {
    const callId = `call${this.turns.length}`;
    const call: Part = { type: "tool_call", callId, name, input };
    const result: Part = { type: "tool_result", callId, output, ...(isError === undefined ? {} : { isError }) };
    return this.add({ role: "assistant", content: [call] }).add({ role: "tool", content: [result] });
  }

  bash(command: string, output = "", isError = false): this {
    return this.tool("Bash", { command }, output, isError);
  }

  wait(minutes: number): this {
    this.time += minutes * 60_000;
    return this;
  }

  private add(message: Message): this {
    this.time += 1_000;
    const text = typeof message.content === "string" ? message.content : JSON.stringify(message.content);
    this.turns.push({ time: this.time, role: message.role, message, seq: this.turns.length + 1, text });
    return this;
  }
}
