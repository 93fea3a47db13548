import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openVarve } from "../../index.ts";

const parent = mkdtempSync(join(tmpdir(), "varve-modes-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe.skipIf(process.platform === "win32")("a new home", () => {
  it("and every file in it is readable by its owner alone, from the moment it is there", async () => {
    const previous = process.umask(0o022);
    try {
      const home = join(parent, "home");
      const seen = new Map<string, string>();
      const look = (folder: string) => {
        for (const entry of readdirSync(folder, { withFileTypes: true })) {
          const path = join(folder, entry.name);
          const stat = statSync(path, { throwIfNoEntry: false });
          if (stat) seen.set(path, (stat.mode & 0o777).toString(8));
          if (entry.isDirectory()) look(path);
        }
      };
      // Files that exist only while something is written are seen as well.
      const varve = await openVarve({ home, background: false });
      await varve.memory.add({ text: "The vault code is 4711." });
      look(home);
      const backup = varve.backup();
      for (let round = 0; round < 200; round += 1) {
        look(home);
        await new Promise((done) => setImmediate(done));
      }
      const { file } = await backup;
      look(home);
      await varve.close();
      expect(modeOf(home)).toBe("700");
      expect(modeOf(dirname(file))).toBe("700");
      expect([...seen.keys()].some((path) => path.endsWith("-wal"))).toBe(true);
      for (const [path, mode] of seen) expect(["600", "700"], path).toContain(mode);
    } finally {
      process.umask(previous);
    }
  });
});

describe.runIf(process.platform === "linux")("a folder that cannot be created", () => {
  it("is reported at once", async () => {
    const home = "/proc/varve-home/inner";
    await expect(openVarve({ home, background: false })).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
  });
});
