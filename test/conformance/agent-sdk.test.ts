/** The session store of the Agent SDK with lines as Claude Code writes them. */
import { expect, test } from "vitest";
import { createSessionStore, type StoreEntry } from "../../src/plugins/agent-sdk/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const user = (uuid: string, parentUuid: string | null, content: unknown): StoreEntry => ({
  ...{ type: "user", uuid, parentUuid, timestamp: "2026-11-17T10:00:00.000Z" },
  message: { role: "user", content },
});
const reply = (uuid: string, parentUuid: string, content: unknown[]): StoreEntry => ({
  ...{ type: "assistant", uuid, parentUuid, timestamp: "2026-11-17T10:00:01.000Z" },
  message: { role: "assistant", content, stop_reason: "end_turn" },
});
const text = (words: string) => ({ type: "text", text: words });
const call = (id: string) => ({ type: "tool_use", id, name: "Read", input: { path: id } });
const result = (id: string) => [{ type: "tool_result", tool_use_id: id, content: `The file ${id}.` }];

onEveryEngine("the session store of the Agent SDK", (get) => {
  const open = async (sessionId: string) => {
    const { varve } = get();
    const store = createSessionStore({ varve, owner: true });
    const key = { projectKey: "-work", sessionId };
    const find = () => varve.sessions.get(`agent:main:claude-code:direct:${sessionId}`);
    const readPath = async () => {
      const { entries } = await varve.transcripts.read(await find(), { limit: 100 });
      return entries.flatMap(({ id, type }) => (type === "message" ? [id] : []));
    };
    return { varve, store, key, find, readPath };
  };

  test("a rewind continues on a branch, and every line comes back in its order", async () => {
    const { varve, store, key, find, readPath } = await open("rewind");
    const snapshot: StoreEntry = { type: "file-history-snapshot", messageId: "u2" };
    const lines = [
      user("u1", null, "Paint the gate."),
      reply("a1", "u1", [text("Which colour?")]),
      user("u2", "a1", "Red."),
      reply("a2", "u2", [text("It is red.")]),
      snapshot,
      // The state line is no reason for a branch; going back to the first reply is.
      user("u3", "a2", "Thanks."),
      user("u4", "a1", "Blue."),
      reply("a4", "u4", [text("It is blue.")]),
    ];
    for (const line of lines) await store.append(key, [line]);
    expect(await store.load(key)).toEqual(lines);
    expect(await varve.transcripts.branches(await find())).toHaveLength(2);
    expect(await readPath()).toEqual(["u1", "a1", "u4", "a4"]);
    // What is sent again changes nothing.
    await store.append(key, lines);
    expect(await store.load(key)).toHaveLength(lines.length + 1);
    expect(await readPath()).not.toContain("u3");
  });

  test("results of parallel tools are no branches", async () => {
    const { varve, store, key, find, readPath } = await open("parallel");
    const lines = [
      user("u1", null, "Read both."),
      reply("a1", "u1", [call("one")]),
      reply("a2", "a1", [call("two")]),
      user("r1", "a1", result("one")),
      user("r2", "a2", result("two")),
      reply("a3", "r2", [text("Done.")]),
      user("u2", "a3", "Good."),
    ];
    for (const line of lines) await store.append(key, [line]);
    expect(await store.load(key)).toEqual(lines);
    expect(await varve.transcripts.branches(await find())).toHaveLength(1);
    expect(await readPath()).toEqual(["u1", "a1", "a2", "r1", "r2", "a3", "u2"]);
  });
});
