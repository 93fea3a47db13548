import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../domain/index.ts";
import { type FileEffect, readTodoState, readToolUse } from "./tool-kinds.ts";

const effectsOf = (name: string, input: JsonValue, inputText?: string): FileEffect[] => {
  const use = readToolUse(name, input, inputText);
  if (use.kind !== "files") throw new Error(`${name} was read as ${use.kind}`);
  return use.effects;
};
const patch = [
  "*** Begin Patch",
  "*** Add File: docs/tides.md",
  "+# Tides",
  "+High water at noon.",
  "*** Update File: src/ferry.ts",
  "@@ export function depart()",
  "-  wait(10);",
  "+  wait(5);",
  "+  log();",
  "*** Delete File: src/rowboat.ts",
  "*** Update File: src/pier.ts",
  "*** Move to: src/dock.ts",
  "*** End Patch",
].join("\n");
const patched = [
  { path: "docs/tides.md", operation: "created", lines: { added: 2, removed: 0 } },
  { path: "src/ferry.ts", operation: "edited", lines: { added: 2, removed: 1 } },
  { path: "src/rowboat.ts", operation: "deleted" },
  { path: "src/pier.ts", operation: "moved", target: "src/dock.ts" },
];

describe("the tools of Claude Code", () => {
  it("create and edit files, with the lines that changed", () => {
    expect(effectsOf("Write", { file_path: "/app/a.ts", content: "one\ntwo\n" })).toEqual([
      { path: "/app/a.ts", operation: "created", lines: { added: 2, removed: 0 } },
    ]);
    const edit = { file_path: "/app/a.ts", old_string: "a\nb\nc", new_string: "a\nB\nB2\nc" };
    expect(effectsOf("Edit", edit)).toEqual([
      { path: "/app/a.ts", operation: "edited", lines: { added: 2, removed: 1 } },
    ]);
    const edits = [
      { old_string: "x", new_string: "y" },
      { old_string: "p\nq", new_string: "p\nq\nr" },
    ];
    expect(effectsOf("MultiEdit", { file_path: "/app/a.ts", edits })).toEqual([
      { path: "/app/a.ts", operation: "edited", lines: { added: 2, removed: 1 } },
    ]);
    expect(effectsOf("NotebookEdit", { notebook_path: "/app/tide.ipynb", new_source: "print(1)" })).toEqual([
      { path: "/app/tide.ipynb", operation: "edited", lines: { added: 1, removed: 0 } },
    ]);
  });

  it("add no line where an edit only deletes, and remove none where it only adds", () => {
    const removed = { file_path: "/app/a.ts", old_string: "one\ntwo", new_string: "" };
    expect(effectsOf("Edit", removed)[0]).toMatchObject({ lines: { added: 0, removed: 2 } });
    const added = { file_path: "/app/a.ts", old_string: "", new_string: "one\ntwo" };
    expect(effectsOf("Edit", added)[0]).toMatchObject({ lines: { added: 2, removed: 0 } });
  });

  it("run commands, keep todos, delegate and ask", () => {
    expect(readToolUse("Bash", { command: "npm test", description: "Run the tests" })).toEqual({
      kind: "shell",
      command: "npm test",
    });
    const todos = [
      { content: "Dredge the channel", status: "completed", activeForm: "Dredging" },
      { content: "Paint the buoys", status: "in_progress", activeForm: "Painting" },
      { content: " Light the beacon ", status: "pending", activeForm: "Lighting" },
    ];
    expect(readToolUse("TodoWrite", { todos })).toEqual({
      kind: "todos",
      todos: [
        { text: "Dredge the channel", state: "done" },
        { text: "Paint the buoys", state: "active" },
        { text: "Light the beacon", state: "pending" },
      ],
    });
    const task = { description: "Find the charts", prompt: "Look for all charts.", subagent_type: "Explore" };
    expect(readToolUse("Task", task)).toEqual({ kind: "delegate", description: "Find the charts" });
    const questions = [
      { question: "Which harbour?", header: "Harbour", options: [{ label: "North" }] },
      { question: "Which day?", header: "Day", options: [{ label: "Monday" }] },
    ];
    expect(readToolUse("AskUserQuestion", { questions })).toEqual({
      kind: "question",
      question: "Which harbour? Which day?",
    });
  });

  it.each(["Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "BashOutput"])("%s only looks", (name) => {
    expect(readToolUse(name, { file_path: "/app/a.ts", path: "/app", pattern: "x", query: "y" })).toEqual({
      kind: "look",
    });
  });
});

describe("the tools of pi and OpenClaw", () => {
  it("write, edit, run and read", () => {
    expect(effectsOf("write", { path: "src/a.ts", content: "1\n2\n3" })).toMatchObject([
      { path: "src/a.ts", operation: "created", lines: { added: 3, removed: 0 } },
    ]);
    expect(effectsOf("edit", { path: "src/a.ts", oldText: "1", newText: "one" })).toMatchObject([
      { operation: "edited", lines: { added: 1, removed: 1 } },
    ]);
    expect(effectsOf("edit", { path: "src/a.ts", edits: [{ oldText: "1\n2", newText: "1" }] })).toMatchObject([
      { operation: "edited", lines: { added: 0, removed: 1 } },
    ]);
    expect(readToolUse("bash", { command: "ls -la", timeout: 5 })).toEqual({ kind: "shell", command: "ls -la" });
    expect(readToolUse("read", { path: "src/a.ts" })).toEqual({ kind: "look" });
    expect(readToolUse("exec", { command: "git status", workdir: "/srv/ferry" })).toEqual({
      kind: "shell",
      command: "git status",
      folder: "/srv/ferry",
    });
    expect(effectsOf("apply_patch", { input: patch })).toEqual(patched);
  });
});

describe("the tools of Codex", () => {
  it("carry a patch as their input, as the text of their input, or inside a command", () => {
    expect(effectsOf("apply_patch", patch)).toEqual(patched);
    expect(effectsOf("apply_patch", null, patch)).toEqual(patched);
    const script = `apply_patch <<'EOF'\n${patch}\nEOF`;
    expect(effectsOf("shell", { command: ["bash", "-lc", script] })).toEqual(patched);
    expect(effectsOf("exec_command", { cmd: script })).toEqual(patched);
  });

  it("run commands given as words or as a line", () => {
    const line = "cd web && npm test";
    expect(readToolUse("shell", { command: ["bash", "-lc", line], workdir: "/srv" })).toEqual({
      kind: "shell",
      command: line,
      folder: "/srv",
    });
    expect(readToolUse("shell", { command: ["/bin/zsh", "-c", line] })).toMatchObject({ command: line });
    expect(readToolUse("shell", { command: ["git", "status"] })).toMatchObject({ command: "git status" });
    expect(readToolUse("functions.exec_command", { cmd: line })).toEqual({ kind: "shell", command: line });
  });

  it("keep a plan", () => {
    const plan = [
      { step: "Read the chart", status: "completed" },
      { step: "Set the course", status: "in_progress" },
    ];
    expect(readToolUse("update_plan", { explanation: "Two steps", plan })).toMatchObject({
      kind: "todos",
      todos: [
        { text: "Read the chart", state: "done" },
        { text: "Set the course", state: "active" },
      ],
    });
  });
});

describe("other tools", () => {
  it("of MCP servers are known by the end of their names", () => {
    expect(effectsOf("mcp__fs__write_file", { path: "a.md", content: "x" })).toMatchObject([{ operation: "created" }]);
    expect(effectsOf("mcp__my_notes__rename", { from: "a.md", to: "b.md" })).toMatchObject([
      { path: "a.md", operation: "moved", target: "b.md" },
    ]);
    expect(effectsOf("mcp__fs__move_file", { source: "a.md", destination: "b/a.md" })).toMatchObject([
      { path: "a.md", operation: "moved", target: "b/a.md" },
    ]);
    expect(effectsOf("mcp__fs__delete_file", { path: "a.md" })).toMatchObject([{ operation: "deleted" }]);
    expect(readToolUse("mcp__fs__read_file", { path: "a.md" })).toEqual({ kind: "look" });
  });

  it("with unknown names are known by the shape of their input", () => {
    expect(effectsOf("frob", { filePath: "a.ts", oldString: "1", newString: "2" })).toMatchObject([
      { path: "a.ts", operation: "edited" },
    ]);
    expect(effectsOf("store_and_save", { filename: "a.txt", text: "x" })).toMatchObject([{ operation: "created" }]);
    expect(readToolUse("terminal", { cmd: "make" })).toMatchObject({ kind: "shell", command: "make" });
    expect(readToolUse("checklist", { items: [{ title: "Sweep the deck", done: true }] })).toMatchObject({
      kind: "todos",
      todos: [{ text: "Sweep the deck", state: "done" }],
    });
    expect(readToolUse("send_mail", { to: "captain", body: "Hello" })).toEqual({ kind: "look" });
    expect(readToolUse("translate", { text: "Hallo", path: "greeting" })).toEqual({ kind: "look" });
  });

  it("that take a verb of an editor are no command lines", () => {
    const path = "/app/a.py";
    const name = "str_replace_editor";
    expect(readToolUse(name, { command: "view", path })).toEqual({ kind: "look" });
    expect(readToolUse(name, { command: "undo_edit", path })).toEqual({ kind: "look" });
    expect(effectsOf(name, { command: "create", path, file_text: "a\nb" })).toMatchObject([
      { path, operation: "created", lines: { added: 2, removed: 0 } },
    ]);
    expect(effectsOf(name, { command: "str_replace", path, old_str: "a", new_str: "c" })).toMatchObject([
      { operation: "edited", lines: { added: 1, removed: 1 } },
    ]);
    expect(effectsOf(name, { command: "insert", path, insert_line: 3, insert_text: "x\ny" })).toMatchObject([
      { operation: "edited", lines: { added: 2, removed: 0 } },
    ]);
  });

  it("are only looking when their input is anything else", () => {
    for (const input of [null, 4, true, "text", [], [1], {}, { path: 3 }, { todos: [] }, { edits: ["x"] }]) {
      expect(readToolUse("something", input as JsonValue)).toEqual({ kind: "look" });
    }
  });
});

it("states of todos are read in the words of every host", () => {
  for (const word of ["completed", "done", "x", "X", "true", "finished"]) expect(readTodoState(word)).toBe("done");
  for (const word of ["in_progress", "active", "~", "in progress"]) expect(readTodoState(word)).toBe("active");
  for (const word of ["pending", " ", "todo", "false", "not_done"]) expect(readTodoState(word)).toBe("pending");
});
