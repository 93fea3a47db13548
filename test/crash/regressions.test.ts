/** What the crash tests have found once, each as small as it can be shown. */
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Message } from "../../src/domain/index.ts";
import { openVarve, restoreBackup } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";
import { messagesIn } from "./log.ts";

onEveryEngine("what was found once", (get) => {
  test("a portable backup comes back whole when messages hold line separators", async () => {
    const { varve, home } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:found:direct:separators" });
    const messages: Message[] = [
      { id: "1", role: "user", content: "one\u2028two\u2029three\u0085four\r\nfive", time: 1 },
    ];
    await varve.context.ingest(session, messages);
    const file = join(home, "separators.jsonl.gz");
    await varve.backup(file, { portable: true });
    const restored = { home: mkdtempSync(join(tmpdir(), "varve-restored-")) };
    await restoreBackup({ ...restored, database: join(restored.home, "varve.db") }, file);
    const copy = await openVarve({ ...restored, database: join(restored.home, "varve.db") });
    expect(await messagesIn(copy, await copy.sessions.get(session.key))).toEqual(messages);
    await copy.close();
    rmSync(restored.home, { recursive: true, force: true });
  });

  test("the doctor finds nothing wrong however often it looks while messages come in", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:found:direct:doctor" });
    for (let visit = 0; visit < 3; visit += 1) {
      for (let index = 0; index < 40; index += 1) {
        await varve.context.ingest(session, [
          { id: `${visit}-${index}`, role: "user", content: `word${index} ${visit}` },
        ]);
      }
      const report = await varve.doctor();
      expect(report.findings.flatMap((finding) => finding.faults)).toEqual([]);
    }
  });

  test("a dump that cannot be written says so, leaves no file, and the program goes on", async () => {
    const { varve, home } = get();
    const file = join(home, "full.jsonl.gz");
    symlinkSync("/dev/full", `${file}.partial`);
    await expect(varve.backup(file, { portable: true })).rejects.toMatchObject({ code: "STORE_FULL" });
    expect(existsSync(file)).toBe(false);
    expect((await varve.status()).messages).toBeGreaterThan(0);
  });
});
