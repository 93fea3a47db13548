import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runLocked } from "./process-lock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "varve-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("work runs one at a time, also within one process, and a failure releases the lock", async () => {
  const path = join(folder, "a", "lock");
  let inside = 0;
  const work = () =>
    runLocked(path, 600_000, async () => {
      inside += 1;
      expect(inside).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inside -= 1;
    });
  await Promise.all([work(), work(), work()]);
  await expect(runLocked(path, 100, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await work();
});

test("a killed process releases the lock at once", async () => {
  const path = join(folder, "lock");
  const code = `
    import { runLocked } from ${JSON.stringify(new URL("./process-lock.ts", import.meta.url).href)};
    await runLocked(${JSON.stringify(path)}, 1000, async () => {
      console.log("taken");
      await new Promise((resolve) => setTimeout(resolve, 60000));
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await expect(runLocked(path, 100, async () => "mine")).rejects.toMatchObject({
    code: "MODEL_FAILED",
    details: { retry: true },
  });
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await runLocked(path, 1_000, async () => "mine")).toBe("mine");
});

test("an unwritable folder is reported with its reason", async () => {
  writeFileSync(join(folder, "file"), "");
  await expect(runLocked(join(folder, "file", "lock"), 100, async () => 0)).rejects.toMatchObject({
    code: "BAD_FILE",
    remedy: expect.stringContaining("home folder"),
  });
});
