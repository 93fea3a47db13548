/** A disk that is really full, and one that really cannot be written. Both need root, to mount a small one. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import { openVarve, type Varve } from "../../src/index.ts";
import { assertHealthy, assertSameMessages, messagesIn } from "./log.ts";
import { batchOf } from "./messages.ts";

const seed = 11;

function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), "varve-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
    execFileSync("umount", [folder]);
    return true;
  } catch {
    // A container may forbid what root may do elsewhere.
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const mountable = canMount();
const reason = mountable ? "" : " (skipped: mounting a small disk needs root on Linux)";

describe.runIf(mountable)(`SQLite on a small disk${reason}`, () => {
  let disk: string;
  let home: string;
  beforeEach(() => {
    disk = mkdtempSync(join(tmpdir(), "varve-disk-"));
    home = mkdtempSync(join(tmpdir(), "varve-home-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk]);
  });
  afterEach(() => {
    execFileSync("umount", ["--lazy", disk]);
    for (const folder of [disk, home]) rmSync(folder, { recursive: true, force: true });
  });
  const open = () => openVarve({ home, database: join(disk, "varve.db"), config: { store: { readers: 1 } } });

  test("a full disk is reported, loses nothing, and writing goes on when there is space again", async () => {
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(1024 * 1024));
    const varve = await open();
    const session = await varve.sessions.resolve({ key: "agent:main:disk:direct:full" });
    const written = await fill(varve, async (batch) => void (await varve.context.ingest(session, batch)));
    await expect(untilRefused(() => varve.sessions.renew(session, "new"))).rejects.toMatchObject({
      code: "STORE_FULL",
    });
    for (const other of [
      () => varve.backup(join(disk, "copy.db")),
      () => varve.backup(join(disk, "copy.jsonl.gz"), { portable: true }),
    ]) {
      await expect(other()).rejects.toMatchObject({ code: "STORE_FULL" });
    }
    assertSameMessages(await messagesIn(varve, session), written, "on the full disk");

    rmSync(ballast);
    const more = batchOf(seed, "after", 10);
    await varve.context.ingest(session, more);
    assertSameMessages(await messagesIn(varve, session), [...written, ...more], "with space again");
    await varve.close();
    const again = await open();
    assertSameMessages(await messagesIn(again, session), [...written, ...more], "opened again");
    await assertHealthy(again, "after the full disk");
    await again.close();
  });

  test("a database that is read-only is refused with what to do, and reads what it holds once it is not", async () => {
    const first = await open();
    const session = await first.sessions.resolve({ key: "agent:main:disk:direct:readonly" });
    const messages = batchOf(seed, "readonly", 10);
    await first.context.ingest(session, messages);
    await first.close();
    execFileSync("mount", ["-o", "remount,ro", disk]);
    await expect(open()).rejects.toMatchObject({
      code: "STORE_READ_ONLY",
      remedy: expect.stringContaining("permissions"),
    });
    const missing = openVarve({ home, database: join(disk, "other", "varve.db") });
    await expect(missing).rejects.toMatchObject({ code: "STORE_READ_ONLY" });
    execFileSync("mount", ["-o", "remount,rw", disk]);
    const again = await open();
    assertSameMessages(await messagesIn(again, session), messages, "writable again");
    await again.close();
  });
});

/** Writes until there is no space; returns what was acknowledged. */
/** A small write may still find room where a large one did not; it is repeated until it finds none. */
async function untilRefused(write: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 10_000; tries += 1) await write();
}

async function fill(varve: Varve, ingest: (batch: Message[]) => Promise<void>): Promise<Message[]> {
  const written: Message[] = [];
  for (let index = 0; index < 10_000; index += 1) {
    const batch = batchOf(seed, `fill-${index}`, 60);
    try {
      await ingest(batch);
    } catch (error) {
      expect(error).toMatchObject({ code: "STORE_FULL" });
      expect((await varve.status()).messages).toBe(written.length);
      return written;
    }
    written.push(...batch);
  }
  throw new Error("the disk never got full");
}
