import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/index.ts";
import type { FileOperation, LineCounts, TodoLine } from "./work-log.ts";

/** One change of a file, as a tool call describes it. */
export interface FileEffect {
  path: string;
  operation: FileOperation;
  target?: string;
  lines?: LineCounts;
}

/** The kind of a tool call. Tools with unknown names are recognised by the shape of their input. */
export type ToolUse =
  | { kind: "files"; effects: FileEffect[] }
  | { kind: "shell"; command: string; folder?: string }
  | { kind: "todos"; todos: TodoLine[] }
  | { kind: "delegate"; description: string }
  | { kind: "question"; question: string }
  | { kind: "look" };

/** Names of tools that only read: Claude Code, pi, Codex, OpenClaw and common MCP servers. */
const lookNames =
  /^(?:read|read_?file|read_?many_?files|view|view_?image|cat|open|grep|glob|find|ls|list|list_?(?:dir|directory|files)|search|search_?files|web_?search|web_?fetch|fetch|browser\w*|lcm_\w+|memory_(?:search|get|recall|stats)|tool_?search|bash_?output|list_mcp\w*|read_mcp\w*|notebook_?read|ls_?tree|get_\w+)$/i;
const createNames = /^(?:write|write_?file|create|create_?file|save_?file|new_?file|file_write|put_file)$/i;
const deleteNames = /^(?:delete|delete_?file|remove|remove_?file|rm|file_delete|unlink)$/i;
const moveNames = /^(?:move|move_?file|rename|rename_?file|mv|file_move)$/i;
const pathFields = [
  "file_path",
  "filePath",
  "path",
  "notebook_path",
  "filename",
  "file",
  "target_file",
  "absolute_path",
];
const targetFields = ["destination", "new_path", "newPath", "to", "target", "dest"];
const sourceFields = ["source", "old_path", "oldPath", "from", ...pathFields];
const oldFields = ["old_string", "oldText", "old_str", "old_text", "oldString", "search", "old"];
const newFields = ["new_string", "newText", "new_str", "new_text", "newString", "replace", "replacement", "new"];
const contentFields = ["content", "contents", "text", "file_text", "new_source", "body", "data"];
const commandFields = ["command", "cmd", "script", "shell_command"];

/** Reads what a tool call is about to do. */
export function readToolUse(name: string, input: JsonValue, inputText?: string): ToolUse {
  const bare = name.replace(/^mcp__.+?__/, "").replace(/^functions?[.:]/, "");
  const fields = isJsonObject(input) ? input : {};
  const patch = findPatch(fields, input, inputText);
  if (patch !== undefined) return { kind: "files", effects: readPatch(patch) };
  const todos = readTodos(fields);
  if (todos !== undefined) return { kind: "todos", todos };
  const command = readCommand(fields, input);
  if (command !== undefined && !lookNames.test(bare)) {
    const folder = pickText(fields, ["workdir", "cwd", "working_directory"]);
    return { kind: "shell", command, ...(folder === undefined ? {} : { folder }) };
  }
  if (/^(?:task|agent|spawn_?agent|sessions_spawn|dispatch_agent|subagent)$/i.test(bare)) {
    return { kind: "delegate", description: pickText(fields, ["description", "task", "prompt", "message"]) ?? bare };
  }
  if (/^(?:ask_?user\w*|request_user_input|question)$/i.test(bare)) {
    return { kind: "question", question: readQuestion(fields) };
  }
  if (lookNames.test(bare)) return { kind: "look" };
  return readFileTool(bare, fields) ?? { kind: "look" };
}

function readFileTool(name: string, fields: JsonObject): ToolUse | undefined {
  if (moveNames.test(name)) {
    const path = pickText(fields, sourceFields);
    const target = pickText(fields, targetFields);
    if (path === undefined || target === undefined) return undefined;
    return { kind: "files", effects: [{ path, operation: "moved", target }] };
  }
  const path = pickText(fields, pathFields);
  if (path === undefined) return undefined;
  if (deleteNames.test(name)) {
    return { kind: "files", effects: [{ path, operation: "deleted" }] };
  }
  const edits = Array.isArray(fields.edits) ? fields.edits.filter(isJsonObject) : [fields];
  const changes = edits.filter(
    (edit) => pickText(edit, oldFields) !== undefined && pickText(edit, newFields) !== undefined,
  );
  // The editor tools of some hosts take a verb: view, create, str_replace, insert.
  const verb = typeof fields.command === "string" ? fields.command : "";
  if (verb === "view") return { kind: "look" };
  if (changes.length > 0)
    return { kind: "files", effects: [{ path, operation: "edited", lines: countLines(changes) }] };
  const content = pickText(fields, contentFields);
  if (content !== undefined && (createNames.test(name) || verb === "create" || /write|create|save/i.test(name))) {
    return {
      kind: "files",
      effects: [{ path, operation: "created", lines: { added: lineCount(content), removed: 0 } }],
    };
  }
  const isEdit = /edit|replace|insert|append|patch|update/i.test(`${name} ${verb}`);
  const inserted = content ?? pickText(fields, ["insert_text", ...newFields]);
  if (!isEdit || inserted === undefined) return undefined;
  return { kind: "files", effects: [{ path, operation: "edited", lines: { added: lineCount(inserted), removed: 0 } }] };
}

function countLines(edits: readonly JsonObject[]): LineCounts {
  let added = 0;
  let removed = 0;
  for (const edit of edits) {
    // Lines that both texts share at their start and end are unchanged.
    const before = splitLines(pickText(edit, oldFields) ?? "");
    const after = splitLines(pickText(edit, newFields) ?? "");
    let start = 0;
    while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
    let end = 0;
    const most = Math.min(before.length, after.length) - start;
    while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
    removed += before.length - start - end;
    added += after.length - start - end;
  }
  return { added, removed };
}

/** An empty text has no lines. */
function splitLines(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

function pickText(fields: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}

/** A command is a text, or an array of words, of which a shell's own come first: `["bash", "-lc", "npm test"]`. */
function readCommand(fields: JsonObject, input: JsonValue): string | undefined {
  // An editor's verb is not a command line.
  if (
    pickText(fields, pathFields) !== undefined &&
    /^(?:view|create|str_replace|insert|undo_edit)$/.test(String(fields.command))
  ) {
    return undefined;
  }
  for (const name of commandFields) {
    const value = fields[name];
    if (typeof value === "string") return value;
    if (Array.isArray(value) && value.every((word) => typeof word === "string")) {
      const words = value as string[];
      return /(?:^|\/)(?:ba|z|da)?sh$/.test(words[0] ?? "") ? (words.at(-1) ?? "") : words.join(" ");
    }
  }
  return typeof input === "string" && /^\s*\$ /.test(input) ? input.trim().slice(2) : undefined;
}

const patchStart = /^\*\*\* Begin Patch/m;
const patchFile = /^\*\*\* (Update|Add|Delete) File: (.+)$/;

/** A patch in Codex's format, wherever the call carries it: as its input, as a field, or inside a shell command. */
function findPatch(fields: JsonObject, input: JsonValue, inputText: string | undefined): string | undefined {
  if (typeof input === "string" && patchStart.test(input)) return input;
  for (const value of Object.values(fields)) {
    const texts = Array.isArray(value) ? value : [value];
    for (const text of texts) if (typeof text === "string" && patchStart.test(text)) return text;
  }
  return inputText?.startsWith("*** Begin Patch") ? inputText : undefined;
}

function readPatch(patch: string): FileEffect[] {
  const effects: FileEffect[] = [];
  for (const line of patch.split("\n")) {
    const found = patchFile.exec(line.trim());
    const current = effects.at(-1);
    if (found?.[2] !== undefined) {
      const operation = found[1] === "Add" ? "created" : found[1] === "Delete" ? "deleted" : "edited";
      effects.push({ path: found[2].trim(), operation, lines: { added: 0, removed: 0 } });
    } else if (current === undefined) continue;
    else if (line.startsWith("*** Move to: ")) {
      current.operation = "moved";
      current.target = line.slice("*** Move to: ".length).trim();
    } else if (current.lines === undefined) continue;
    else if (line.startsWith("+")) current.lines.added += 1;
    else if (line.startsWith("-")) current.lines.removed += 1;
  }
  for (const effect of effects) {
    if (effect.lines?.added === 0 && effect.lines.removed === 0) delete effect.lines;
  }
  return effects;
}

const listFields = ["todos", "plan", "tasks", "items", "todo_list"];
const itemFields = ["content", "step", "text", "title", "subject", "description", "task", "name"];

/** A todo list: an array of objects with a text and a state. */
function readTodos(fields: JsonObject): TodoLine[] | undefined {
  for (const name of listFields) {
    const list = fields[name];
    if (!Array.isArray(list) || list.length === 0) continue;
    const todos = list.flatMap((item): TodoLine[] => {
      if (!isJsonObject(item)) return [];
      const text = pickText(item, itemFields);
      const status =
        pickText(item, ["status", "state"]) ?? (typeof item.done === "boolean" ? String(item.done) : undefined);
      return text === undefined || status === undefined ? [] : [{ text: text.trim(), state: readTodoState(status) }];
    });
    if (todos.length === list.length) return todos;
  }
  return undefined;
}

export function readTodoState(status: string): TodoLine["state"] {
  if (/^(?:done|complete|completed|finished|closed|true|x)$/i.test(status)) return "done";
  return /progress|active|doing|current|started|~/i.test(status) ? "active" : "pending";
}

function readQuestion(fields: JsonObject): string {
  const own = pickText(fields, ["question", "prompt", "message", "text"]);
  if (own !== undefined) return own;
  const list = Array.isArray(fields.questions) ? fields.questions.filter(isJsonObject) : [];
  return list.flatMap((one) => pickText(one, ["question", "text"]) ?? []).join(" ");
}
