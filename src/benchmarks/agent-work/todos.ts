import type { JsonValue } from "../../index.ts";
import { type CallStep, isObject, type Step } from "./steps.ts";

export type TodoState = "done" | "active" | "open" | "cancelled";

export interface TodoItem {
  text: string;
  state: TodoState;
}

/** The last todo list with its last states: of a tool when one keeps a list, otherwise the last checklist in the chat. */
export function findTodos(steps: readonly Step[]): TodoItem[] {
  const calls = steps.filter((step) => step.kind === "call").filter((call) => call.failed !== true);
  const last = calls.findLast(isListCall);
  if (last !== undefined) return readList(last.input);
  const tasks = readTasks(calls);
  if (tasks.length > 0) return tasks;
  const chat = steps.findLast((step) => step.kind === "assistant" && readChecklist(step.text).length >= 2);
  return chat?.kind === "assistant" ? readChecklist(chat.text) : [];
}

const listTools =
  /^(?:todo_?write|write_todos?|update_todos?|todo_?list|update_todo_list|set_todos|manage_todo_list|update_plan|todos?|plan)$/;
const listKeys = ["todos", "plan", "items", "tasks", "todoList", "todo_list", "steps"];
const textKeys = ["content", "step", "text", "title", "subject", "description", "task", "name"];

function isListCall({ tool, input }: CallStep): boolean {
  return (
    listTools.test(tool) &&
    isObject(input) &&
    listKeys.some((key) => Array.isArray(input[key]) || isChecklist(input[key]))
  );
}

function isChecklist(value: JsonValue | undefined): boolean {
  return typeof value === "string" && readChecklist(value).length > 0;
}

function readList(input: JsonValue): TodoItem[] {
  if (!isObject(input)) return [];
  const list = listKeys.map((key) => input[key]).find((value) => value !== undefined);
  if (typeof list === "string") return readChecklist(list);
  return Array.isArray(list) ? list.flatMap(readTodo) : [];
}

function readTodo(value: JsonValue): TodoItem[] {
  if (!isObject(value)) return [];
  const text = textKeys.map((key) => value[key]).find((one) => typeof one === "string" && one.trim() !== "");
  if (typeof text !== "string") return [];
  const isDone = value.done === true || value.completed === true;
  return [{ text: text.trim(), state: isDone ? "done" : readState(value.status ?? value.state) }];
}

function readState(status: JsonValue | undefined): TodoState {
  const text = typeof status === "string" ? status.toLowerCase().replace(/[\s-]/g, "_") : "";
  if (/^(?:completed?|done|finished|closed)$/.test(text)) return "done";
  if (/^(?:in_progress|active|doing|started|current)$/.test(text)) return "active";
  return /^(?:cancell?ed|skipped|dropped|deleted)$/.test(text) ? "cancelled" : "open";
}

/** Lists that are kept task by task: one call creates a task, later ones change its state. */
function readTasks(calls: readonly CallStep[]): TodoItem[] {
  const tasks = new Map<string, TodoItem>();
  for (const { tool, input, output } of calls) {
    if (!isObject(input)) continue;
    if (/^(?:task_?create|create_task|add_todo|todo_add)$/.test(tool)) {
      const [created] = readTodo(input);
      const id = /#?(\d+)/.exec(output)?.[1] ?? String(tasks.size + 1);
      if (created !== undefined) tasks.set(id, created);
    } else if (/^(?:task_?update|update_task|todo_update|complete_todo)$/.test(tool)) {
      const id = String(input.taskId ?? input.task_id ?? input.id ?? "");
      const known = tasks.get(id);
      if (known === undefined) continue;
      const changed = readTodo(input)[0]?.text ?? known.text;
      const status = tool === "complete_todo" ? "done" : input.status;
      tasks.set(id, { text: changed, state: status === undefined ? known.state : readState(status) });
    }
  }
  return [...tasks.values()].filter((task) => task.state !== "cancelled");
}

const checklistLine = /^\s*(?:[-*+]|\d+[.)])\s+\[([ xX~>/-])\]\s+(.+)$/;

function readChecklist(text: string): TodoItem[] {
  return text.split("\n").flatMap((line): TodoItem[] => {
    const found = checklistLine.exec(line);
    if (found === null) return [];
    const mark = found[1]?.toLowerCase();
    const state = mark === "x" ? "done" : mark === " " ? "open" : mark === "-" ? "cancelled" : "active";
    return [{ text: (found[2] ?? "").replace(/[*_`]{2}/g, "").trim(), state }];
  });
}
