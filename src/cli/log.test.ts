import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../config/index.ts";
import { VarveError } from "../domain/index.ts";
import { openLog } from "./log.ts";

it("logs errors with their name, message, code, stack and cause, and no secret", async () => {
  const home = mkdtempSync(join(tmpdir(), "varve-log-"));
  const log = openLog(loadConfig({ home }));
  const cause = new TypeError("the key sk-ant-api03-0123456789abcdefghij was refused");
  log.write({ event: "error", error: new VarveError("STORE_IO", "The disk is gone.", { cause }) });
  await log.close();
  const text = readFileSync(join(home, "logs", "gateway.log"), "utf8");
  expect(JSON.parse(text)).toMatchObject({
    event: "error",
    error: {
      name: "VarveError",
      message: "The disk is gone.",
      code: "STORE_IO",
      stack: expect.stringContaining("log.test.ts"),
      cause: { name: "TypeError", message: "the key [Anthropic key removed] was refused" },
    },
  });
  expect(text).not.toContain("sk-ant");
  rmSync(home, { recursive: true, force: true });
});
