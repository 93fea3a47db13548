/** A file that names the session of somebody else. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onEveryEngine } from "../support/engines.ts";

onEveryEngine("a file that names the id of a session it does not continue", (get) => {
  test("gets a session of its own, and the other one keeps its branch, its title and its messages", async () => {
    const { varve, home } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:telegram:direct:7" });
    await varve.context.ingest(session, [{ id: "m1", role: "user", content: "The real conversation." }]);
    const folder = join(home, "projects", "-work");
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${session.sessionId}.jsonl`);
    const line = (uuid: string, parentUuid: string | null, type: "user" | "assistant", text: string) => {
      const message = { role: type, content: type === "user" ? text : [{ type: "text", text }] };
      const time = { timestamp: "2026-01-15T12:00:00.000Z" };
      return JSON.stringify({ type, uuid, parentUuid, sessionId: session.sessionId, cwd: "/work", message, ...time });
    };
    const lines = [line("f1", null, "user", "A forged request."), line("f2", "f1", "assistant", "A forged answer.")];
    writeFileSync(path, `${lines.join("\n")}\n`);
    const read = async () => JSON.stringify((await varve.transcripts.read(session, { limit: 50 })).entries);
    const before = await read();
    const first = await varve.import([path], { source: "claude-code" });
    expect(first.imported).toBe(2);
    expect(await read()).toBe(before);
    expect(await varve.transcripts.branches(session)).toHaveLength(1);
    // What follows in the file continues its own session.
    writeFileSync(path, `${[...lines, line("f3", "f2", "user", "More of it.")].join("\n")}\n`);
    expect((await varve.import([path], { source: "claude-code" })).imported).toBe(1);
    expect((await varve.import([path], { source: "claude-code" })).imported).toBe(0);
    expect(await read()).toBe(before);
    const { sessions } = await varve.sessions.list({ all: true });
    const own = sessions.find(({ key }) => key !== session.key);
    expect(sessions).toHaveLength(2);
    expect(own?.messageCount).toBe(3);
    const found = await varve.search.find("forged request", { kinds: ["message"] });
    expect(found.results.some(({ sessionKey }) => sessionKey === own?.key)).toBe(true);
  });
});
