import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { importMemories } from "../../src/imports/memories/lancedb-pro.ts";
import { openStore } from "../../src/store/index.ts";
import { onEveryEngine, seededRandom } from "../support/engines.ts";
import { type LcmMessage, writeLcmDatabase } from "../support/lcm-database.ts";
import { header, lines, message, write } from "../support/openclaw-home.ts";

onEveryEngine(
  "what plugins of OpenClaw stored",
  (get) => {
    const folder = (name: string) => {
      const path = join(get().home, "plugins", name);
      mkdirSync(path, { recursive: true });
      return path;
    };
    const said = (count: number): LcmMessage[] =>
      Array.from({ length: count }, (_, index) => ({
        role: index % 2 ? "assistant" : "user",
        content: `The bed number ${index} has roses.`,
      }));

    test("lossless-claw's conversations come with their summaries, tool calls and large files", async () => {
      const { varve } = get();
      const place = folder("lcm");
      const large = write(join(place, "file_abc.txt"), `the whole log ${"line of the log\n".repeat(20)}`);
      const messages = said(16);
      messages[1] = {
        role: "assistant",
        content: "",
        parts: [
          { part_type: "text", text_content: "Let me look." },
          { part_type: "tool", tool_call_id: "c1", tool_name: "read", tool_input: '{"path":"log"}' },
        ],
      };
      const reference = "[LCM File: file_abc | log.txt | text/plain | 9 bytes]\n\nExploration Summary:\nA log.";
      messages[2] = { role: "user", content: reference };
      const file = join(place, "lcm.db");
      const key = "agent:main:telegram:direct:42";
      writeLcmDatabase(file, { sessionId: "lcm-session-1", key, messages, largeFile: { id: "file_abc", path: large } });
      const report = await varve.import([file]);
      expect(report).toMatchObject({ files: 1, sessions: 1, imported: 16, quarantined: 0, summaries: 4, remarks: [] });
      const session = await varve.sessions.get(key);
      expect(session.displayName).toBe("The garden");
      const page = await varve.transcripts.read(session, { limit: 100 });
      const found = page.entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
      expect(found).toHaveLength(16);
      expect(found[0]?.time ?? page.entries[1]?.time).toBe(Date.UTC(2026, 0, 2, 3, 0));
      expect(found[1]?.content).toMatchObject([
        { type: "text", text: "Let me look." },
        { type: "tool_call", callId: "c1", name: "read", input: { path: "log" } },
      ]);
      expect(JSON.stringify(found[2]?.content)).toContain("the whole log");
      const { summaries } = await varve.context.overview(session);
      expect(summaries.map((one) => one.id)).toEqual(["sum_condensed", "sum_leaf2"]);
      const view = await varve.context.assemble(session, { budgetTokens: 8_000 });
      expect(JSON.stringify(view.messages)).toContain("bed number 15");
      expect(await varve.context.describe("sum_condensed", { session })).toMatchObject({ kind: "summary" });
      expect(await varve.import([file])).toMatchObject({ imported: 0, summaries: 0 });
      expect((await varve.doctor()).findings.flatMap((finding) => finding.faults)).toEqual([]);
    });

    test("a conversation that is in OpenClaw and in lossless-claw is stored once", async () => {
      const { varve, home } = get();
      const sessionId = "00000000-0000-4000-8000-0000000000aa";
      const messages = said(14);
      const started = Date.UTC(2026, 0, 2);
      const events = messages.map(({ role, content }, index) =>
        message(`e${index}`, index === 0 ? null : `e${index - 1}`, role, content, started + index),
      );
      const state = join(home, "both");
      const sessions = join(state, "agents", "main", "sessions");
      write(join(sessions, "sessions.json"), JSON.stringify({ "agent:main:slack:direct:b": { sessionId } }));
      write(join(sessions, `${sessionId}.jsonl`), lines([header(sessionId, started), ...events]));
      const known = messages.map((one, index) => (index % 3 ? one : { ...one, entryId: `e${index}` }));
      writeLcmDatabase(join(state, "lcm.db"), { sessionId, key: "agent:main:slack:direct:b", messages: known });
      const report = await varve.import([state]);
      expect(report).toMatchObject({ imported: 14, summaries: 4 });
      const session = await varve.sessions.get("agent:main:slack:direct:b");
      expect(session.messageCount).toBe(14);
      expect((await varve.context.overview(session)).summaries).toHaveLength(2);
    });

    test("memories keep their times, scopes, tiers and versions, from a file and from a folder of LanceDB", async () => {
      const { varve, database, clock } = get();
      const place = folder("lancedb");
      const created = Date.UTC(2025, 5, 1);
      const meta = (more: object) => JSON.stringify({ tier: "core", access_count: 4, confidence: 0.6, ...more });
      const base = { category: "fact", scope: "agent:main", importance: 0.9, timestamp: created };
      const memories = [
        {
          ...base,
          id: "a",
          text: "The kiln is at 900 degrees.",
          metadata: meta({
            superseded_by: "b",
            invalidated_at: created + 5,
            l0_abstract: "The kiln is at 900 degrees.",
          }),
        },
        {
          ...base,
          id: "b",
          text: "The kiln is at 1200 degrees.",
          timestamp: created + 5,
          metadata: meta({ supersedes: "a", memory_category: "preferences", valid_from: created + 5 }),
        },
        { ...base, id: "c", text: "The shop closes at six.", scope: "shop", metadata: "plain text" },
        { ...base, id: "d", text: " " },
      ];
      const file = join(place, "export.json");
      writeFileSync(file, JSON.stringify({ version: "1.0", exportedAt: "2026-01-01", count: 4, memories }));
      expect(await varve.import([file], { dryRun: true })).toMatchObject({ memories: 3 });
      const report = await varve.import([file]);
      expect(report).toMatchObject({ memories: 3, quarantined: 1 });
      expect(report.broken).toEqual([{ path: file, record: 4, reason: "it has no text" }]);
      const { hits } = await varve.memory.recall({ query: "How hot is the kiln?" });
      const kiln = hits[0]?.memory;
      expect(kiln).toMatchObject({
        ...{ content: "The kiln is at 1200 degrees.", category: "preferences", tier: "core", importance: 0.9 },
        ...{ createdAt: created + 5, validFrom: created + 5, scope: "agent:main", confidence: 0.6, version: 2 },
      });
      expect((await varve.memory.history(kiln?.id ?? "")).map((one) => one.content)).toEqual([
        "The kiln is at 900 degrees.",
        "The kiln is at 1200 degrees.",
      ]);
      expect(await varve.import([file])).toMatchObject({ memories: 0, duplicates: 3 });
      // The folder has the same rows; the package that reads it is optional.
      mkdirSync(join(place, "db", "memories.lance"), { recursive: true });
      await expect(varve.import([join(place, "db")])).rejects.toMatchObject({ code: "MISSING_PACKAGE" });
      const rows = [
        ...memories.slice(0, 3),
        { ...base, id: "e", text: "The cellar is dry.", timestamp: BigInt(created) },
      ];
      const load = async () => ({
        connect: async () => ({ openTable: async () => ({ query: () => ({ toArray: async () => rows }) }) }),
      });
      const store = await openStore({ database, clock, random: seededRandom(3) });
      try {
        expect(await importMemories(store, "main", join(place, "db"), { load })).toMatchObject({
          imported: 1,
          duplicates: 3,
        });
        const rowOf = store.db.selectFrom("memories").select(["scope", "created_at"]);
        expect(await rowOf.where("content", "=", "The shop closes at six.").execute()).toEqual([
          { scope: "custom:shop", created_at: created },
        ]);
      } finally {
        await store.close();
      }
    });
  },
  { config: { search: { embedder: "none" } } },
);
