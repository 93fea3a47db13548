/** Everything that reads or changes data says which rights it needs. Routes are checked by their types and end to end. */
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { eventRules } from "../http/events.ts";
import { allTools } from "../tools/toolbox.ts";
import { commands, resetUsers } from "../turn/commands.ts";
import { commandRights } from "./command-rights.ts";
import { buildProgram } from "./program.ts";

const rights = ["read", "write", "admin"];

function listCommands(command: Command, path: string[]): string[] {
  const name = [...path, command.name()];
  if (command.commands.length === 0) return [name.join(" ")];
  return command.commands.flatMap((child) => listCommands(child, name));
}

describe("rights are declared", () => {
  it("by every tool, and every tool that returns content needs read", () => {
    for (const { name, rights: declared, annotations } of allTools) {
      expect(declared, name).toContain("read");
      expect(declared.includes("write"), name).toBe(!annotations.readOnlyHint);
    }
  });

  it("by every command of the command line, and for no other", () => {
    const names = buildProgram().commands.flatMap((command) => listCommands(command, []));
    expect(Object.keys(commandRights).sort()).toEqual(names.sort());
    for (const [name, declared] of Object.entries(commandRights)) {
      expect(declared.length, name).toBeGreaterThan(0);
      for (const right of declared) expect(rights, name).toContain(right);
    }
  });

  it("by every command of a chat", () => {
    const users = [
      ...Object.entries(commands).map(([name, { users: who }]) => [name, who]),
      ...Object.entries(resetUsers),
    ];
    expect(users.length).toBeGreaterThanOrEqual(9);
    for (const [name, who] of users) expect(["everybody", "own chat", "owners"], name).toContain(who);
  });

  it("by every event of the stream", () => {
    for (const [name, { right }] of Object.entries(eventRules)) expect(rights, name).toContain(right);
  });
});
