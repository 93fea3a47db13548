import type { Entry, JsonValue, Message, Part } from "../../index.ts";
import { readTypedText } from "./typed-text.ts";

/** A tool call with its result. */
export interface CallStep {
  kind: "call";
  callId: string;
  /** The tool's name in lower case, without the prefix of an MCP server. */
  tool: string;
  input: JsonValue;
  /** The shell command, for tools that run one. */
  command?: string;
  output: string;
  /** Undefined when the source does not say: the caller judges by the output. */
  failed: boolean | undefined;
  /** False for a call without a result, and for one that was interrupted or continues in the background. */
  finished: boolean;
}

/** A conversation as a list of steps, in order. */
export type Step = { kind: "user" | "assistant"; text: string } | CallStep;

type Result = Extract<Part, { type: "tool_result" }>;
type Call = Extract<Part, { type: "tool_call" }>;

export function readSteps(entries: readonly Entry[]): Step[] {
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [{ entry, message: entry.message }] : []));
  const results = new Map<string, Result>();
  for (const { message } of messages) {
    for (const part of listParts(message)) if (part.type === "tool_result") results.set(part.callId, part);
  }
  return messages.flatMap(({ entry, message }) => {
    if (message.role === "user" && entry.extra?.isMeta !== true) return readUser(message);
    return message.role === "assistant" ? readAssistant(message, results) : [];
  });
}

function readUser(message: Message): Step[] {
  const texts = listParts(message).flatMap((part) => (part.type === "text" ? [readTypedText(part.text)] : []));
  const text = texts.filter((one) => one !== "").join("\n");
  return text === "" ? [] : [{ kind: "user", text }];
}

function readAssistant(message: Message, results: ReadonlyMap<string, Result>): Step[] {
  return listParts(message).flatMap((part): Step[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [{ kind: "assistant", text: part.text }];
    return part.type === "tool_call" ? [readCall(part, results.get(part.callId))] : [];
  });
}

export function listParts(message: Pick<Message, "content">): Part[] {
  return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}

function readCall(call: Call, result: Result | undefined): CallStep {
  const tool = call.name.replace(/^.*(?:__|[./:])/, "").toLowerCase();
  const { output, exitCode } = readOutput(result === undefined ? "" : printOutput(result.output));
  const command = readCommand(tool, call.input);
  const interrupted =
    /^(?:\[?Request interrupted|Command (?:aborted|timed out)|.{0,40}running in (?:the )?background)/im;
  const isBackground = isObject(call.input) && call.input.run_in_background === true;
  return {
    kind: "call",
    callId: call.callId,
    tool,
    input: call.input,
    ...(command === undefined ? {} : { command }),
    output,
    failed: exitCode === undefined ? result?.isError : exitCode !== 0,
    finished: result !== undefined && !isBackground && !interrupted.test(output.slice(0, 200) + output.slice(-80)),
  };
}

export function printOutput(output: string | Part[]): string {
  if (typeof output === "string") return output;
  return output.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Removes the envelope that some programs put around the output of a command, and reads its exit code. */
export function readOutput(text: string): { output: string; exitCode?: number } {
  if (text.startsWith("{")) {
    const envelope = parseObject(text);
    const metadata = isObject(envelope?.metadata) ? envelope.metadata : envelope;
    const code = metadata?.exit_code ?? metadata?.exitCode;
    const output = envelope?.output ?? [envelope?.stdout, envelope?.stderr].filter(Boolean).join("\n");
    if (typeof code === "number" && typeof output === "string") return { output, exitCode: code };
  }
  const stated =
    /^(?:Error: )?\[?(?:Exit code|Process exited with code|Command exited with code)[: ]+(-?\d+)\]?/im.exec(text);
  return stated === null ? { output: text } : { output: text, exitCode: Number(stated[1]) };
}

const shellTools =
  /^(?:bash|shell|exec|execute|terminal|run|run_command|run_shell_command|exec_command|execute_command|start_process|run_terminal_cmd|local_shell|local_shell_call|shell_command|container\.exec|run_in_terminal|command)$/;

function readCommand(tool: string, input: JsonValue): string | undefined {
  if (!shellTools.test(tool) || !isObject(input)) return undefined;
  const action = isObject(input.action) ? input.action : input;
  const command = action.command ?? action.cmd ?? action.script;
  if (typeof command === "string") return command;
  if (!Array.isArray(command)) return undefined;
  const words = command.map(String);
  const isWrapped = /^(?:\/bin\/)?(?:ba|z)?sh$/.test(words[0] ?? "") && /^-l?c$/.test(words[1] ?? "");
  return isWrapped ? words.slice(2).join(" ") : words.join(" ");
}

export function isObject(value: unknown): value is Record<string, JsonValue> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseObject(text: string): Record<string, JsonValue> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // Text that only begins like an object is output as it is.
    return undefined;
  }
}
