import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { runProcess, runProgram } from "./process.ts";
import { type ScriptedProgram, writeScriptedProgram } from "./scripted-program.test-util.ts";

const written: ScriptedProgram[] = [];
afterEach(() => {
  for (const one of written.splice(0)) one.remove();
});

function script(body: string): ScriptedProgram {
  const one = writeScriptedProgram(body);
  written.push(one);
  return one;
}

async function readWhenWritten(file: string): Promise<number> {
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await sleep(5);
  return Number(readFileSync(file, "utf8"));
}

async function waitForEnd(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch (error) {
      expect(error).toMatchObject({ code: "ESRCH" });
      return;
    }
    // A process that nobody has waited for yet is still there, and has ended.
    if (process.platform === "linux" && /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))) return;
    await sleep(5);
  }
}

describe("a program", () => {
  it("gets its arguments without a shell and its text on standard input", async () => {
    const { program, readCalls } = script("process.stdout.write(input.toUpperCase());");
    const args = ["$(id)", "; echo", "a b", ""];
    expect(await runProgram({ program, args, input: "hallo ü" })).toEqual({ output: "HALLO Ü", errors: "" });
    expect(readCalls()).toMatchObject([{ args, input: "hallo ü" }]);
  });

  it("that exits with a code is an error without secrets, or a result", async () => {
    const key = `sk-ant-api03-${"a1".repeat(30)}`;
    const { program } = script(`process.stderr.write("no licence ${key}"); process.exitCode = 3;`);
    const error = await runProgram({ program, args: [], input: "" }).catch((one: unknown) => one);
    expect(error).toMatchObject({ code: "MODEL_FAILED", message: expect.stringMatching(/ended with 3.*no licence/s) });
    expect(String(error)).not.toContain(key);
    expect(await runProcess({ program, args: [], input: "" })).toMatchObject({ code: 3, output: "" });
  });

  it("that is not there is an error of the settings", async () => {
    const run = { program: "no-such-program-at-all", args: [], input: "", remedy: "Install it." };
    await expect(runProcess(run)).rejects.toMatchObject({ code: "BAD_CONFIG", remedy: "Install it." });
  });

  it("that writes without end is ended", async () => {
    const { program } = script('const more = () => process.stdout.write("x".repeat(65536), more); more();');
    const run = runProcess({ program, args: [], input: "", outputMax: 100_000 });
    await expect(run).rejects.toMatchObject({ code: "MODEL_FAILED", message: expect.stringContaining("100000") });
  });

  it("is ended by an abort, with the programs it started", async () => {
    const { program, folder } = script(`
      const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      fs.writeFileSync(folder + "/child", String(child.pid));
      setInterval(() => {}, 1000);`);
    const aborted = new AbortController();
    const run = runProcess({ program, args: [], input: "", signal: aborted.signal });
    const pid = await readWhenWritten(join(folder, "child"));
    aborted.abort(new Error("enough"));
    await expect(run).rejects.toThrow("enough");
    await waitForEnd(pid);
  });

  it("that ignores the request to end is killed", async () => {
    const { program, folder } = script(`
      process.on("SIGTERM", () => {});
      fs.writeFileSync(folder + "/own", String(process.pid));
      setInterval(() => {}, 1000);`);
    const aborted = new AbortController();
    const run = runProcess({ program, args: [], input: "", signal: aborted.signal, killDelayMs: 10 });
    const pid = await readWhenWritten(join(folder, "own"));
    aborted.abort();
    await expect(run).rejects.toThrow();
    await waitForEnd(pid);
  });

  it("is not started after an abort", async () => {
    const { program, readCalls } = script("");
    await expect(runProcess({ program, args: [], input: "", signal: AbortSignal.abort() })).rejects.toThrow();
    expect(readCalls()).toEqual([]);
  });
});
