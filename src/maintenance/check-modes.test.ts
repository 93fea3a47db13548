import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../config/index.ts";
import { openVarve } from "../index.ts";
import { checkModes, fixModes } from "./check-modes.ts";

describe.skipIf(process.platform === "win32")("the modes of a home", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "varve-modes-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const write = (name: string, text: string, mode: number): string => {
    const path = join(home, name);
    writeFileSync(path, text);
    chmodSync(path, mode);
    return path;
  };

  it("are wrong where others can read a secret, and can be corrected", () => {
    const key = write("tls.key", "k", 0o644);
    const token = write("gateway-token", "t", 0o640);
    write("varve.db", "", 0o600);
    chmodSync(home, 0o755);
    const loaded = loadConfig({ home, overrides: { gateway: { tls: { cert: "tls.crt", key: "tls.key" } } }, env: {} });
    const { faults, fixable } = checkModes(loaded);
    expect(faults).toEqual([
      `the home folder ${home} has mode 755`,
      `the access token ${token} has mode 640`,
      `the TLS key ${key} has mode 644`,
    ]);
    expect(fixable).toBe(true);
    expect(fixModes(loaded)).toBe(3);
    expect(checkModes(loaded).faults).toEqual([]);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(statSync(key).mode & 0o777).toBe(0o600);
  });

  it("matter for settings only when they contain a secret", () => {
    const file = write("config.yaml", "gateway: {tokens: [{name: a, token: env:A, rights: [read]}]}\n", 0o644);
    expect(checkModes(loadConfig({ home, env: {} })).faults).toEqual([]);
    writeFileSync(file, "models: {providers: {anthropic: {apiKey: sk-ant-secret}}}\n");
    expect(checkModes(loadConfig({ home, env: {} })).faults).toEqual([
      `the settings with secrets ${file} has mode 644`,
    ]);
  });

  it("are checked and corrected by doctor", async () => {
    const varve = await openVarve({ home, background: false });
    chmodSync(home, 0o755);
    expect((await varve.doctor()).healthy).toBe(false);
    const fixed = await varve.doctor({ fix: true });
    expect(fixed.healthy).toBe(true);
    expect(fixed.done.join()).toContain("1 files and folders closed to other users");
    await varve.close();
  });
});
