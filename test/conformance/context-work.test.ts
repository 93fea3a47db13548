import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Message, Part } from "../../src/domain/index.ts";
import type { ContextView, Session } from "../../src/index.ts";
import { onEveryEngine } from "../support/engines.ts";

const things = "buoy anchor rope sail lantern rudder compass harbour ferry beacon channel pier".split(" ");
const thing = (index: number): string => `${things[index % things.length]} ${index}`;

/** One turn of a coding agent: a request, a call with its result, and an answer. */
function workTurn(index: number): Message[] {
  const time = 1_760_000_000_000 + index * 120_000;
  const callId = `call${index}`;
  const isEdit = index % 3 !== 0;
  const name = isEdit ? "Edit" : "Bash";
  const input: Record<string, string> = isEdit
    ? { file_path: `/srv/harbour/src/${things[index % things.length]}.ts`, old_string: "a", new_string: "b" }
    : { command: "npm test" };
  const call: Part = { type: "tool_call", callId, name, input };
  const output = isEdit ? "The file was updated." : `Tests:  ${index + 1} passed, ${index + 1} total`;
  const detail = `${thing(index)} was checked against the list of the harbour master. `.repeat(1 + (index % 7));
  return [
    { id: `u${index}`, role: "user", content: `Please check the ${thing(index)} and note the result.`, time },
    { id: `c${index}`, role: "assistant", content: [call], time: time + 1_000 },
    {
      id: `r${index}`,
      role: "tool",
      content: [{ type: "tool_result", callId, output: `${output}\n${detail}` }],
      time: time + 2_000,
    },
    { id: `a${index}`, role: "assistant", content: `The ${thing(index)} is in order. ${detail}`, time: time + 3_000 },
  ];
}

const workTurns = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => workTurn(from + at)).flat();
const textOf = ({ messages }: Pick<ContextView, "messages">): string => JSON.stringify(messages);

/** The messages before what the prompt recalled, as text that a longer list may begin with. */
function stablePart({ messages }: ContextView): string {
  const end = messages.findIndex(({ content }) => typeof content === "string" && content.includes("<recalled"));
  return JSON.stringify(end === -1 ? messages : messages.slice(0, end)).slice(0, -1);
}

onEveryEngine(
  "the context of work",
  (get) => {
    let count = 0;
    const filled = async (messages: Message[]): Promise<Session> => {
      count += 1;
      const session = await get().varve.sessions.resolve({ key: `agent:main:work:direct:s${count}` });
      if (messages.length > 0) await get().varve.context.ingest(session, messages);
      return session;
    };

    test("while the cut is the same, a view is a prefix of the next one, with and without prompts", async () => {
      const { varve, kind } = get();
      const session = await filled(workTurns(0, 60));
      await varve.context.compact(session, { budgetTokens: 8_000 });
      const budgets = kind === "sqlite" ? [2_000, 4_000, 8_000, 16_000, 32_000] : [2_000, 8_000, 32_000];
      const before = new Map<string, { cut: string; text: string }>();
      const changes = new Map<string, number>();
      for (let turn = 60; turn < 180; turn += 1) {
        await varve.context.ingest(session, workTurn(turn));
        for (const budgetTokens of budgets) {
          for (const prompt of [undefined, `What about the ${thing(turn % 50)}?`]) {
            const view = await varve.context.assemble(session, { budgetTokens, prompt, record: false });
            const key = `${budgetTokens} ${prompt === undefined}`;
            const last = before.get(key);
            const text = stablePart(view);
            expect(view.estimatedTokens).toBeLessThanOrEqual(budgetTokens);
            if (last?.cut === view.cut) expect(text.startsWith(last.text), `${key} at turn ${turn}`).toBe(true);
            else changes.set(key, (changes.get(key) ?? 0) + 1);
            before.set(key, { cut: view.cut, text });
          }
        }
      }
      // A cut that changed with every turn would make the promise empty.
      expect(changes.get("32000 true")).toBeLessThan(12);
      expect(changes.get("32000 false")).toBeLessThan(20);
      expect(changes.get("8000 true")).toBeLessThan(60);
    });

    test("a view uses its budget when there is more, and the same state always gives the same bytes", async () => {
      const { varve } = get();
      const session = await filled(workTurns(0, 400));
      await varve.context.compact(session, { budgetTokens: 4_000 });
      for (const budgetTokens of [4_000, 7_000, 12_000, 24_000, 48_000]) {
        const view = await varve.context.assemble(session, { budgetTokens });
        expect(view.estimatedTokens / budgetTokens, `${budgetTokens}`).toBeGreaterThanOrEqual(0.85);
        const again = await varve.context.assemble(session, { budgetTokens });
        expect(textOf(again)).toBe(textOf(view));
        expect(again.cut).toBe(view.cut);
      }
    });

    test("a view with room does not open what a person had compacted", async () => {
      const { varve } = get();
      const messages = workTurns(0, 80);
      const sealed = await filled(messages);
      await varve.context.compact(sealed, {});
      const view = await varve.context.assemble(sealed, { budgetTokens: 100_000 });
      expect(view.messages.length).toBeLessThan(40);
      expect(textOf(view)).not.toContain("The anchor 1 is in order");
      const open = await filled(messages);
      await varve.context.compact(open, { budgetTokens: 3_000 });
      expect(textOf(await varve.context.assemble(open, { budgetTokens: 100_000 }))).toContain(
        "The anchor 1 is in order",
      );
    });

    test("the newest request is in view although a compaction covered it", async () => {
      const { varve } = get();
      const steps = Array.from({ length: 60 }, (_, index) => workTurn(index + 1).slice(1, 3)).flat();
      const request: Message = { id: "ask", role: "user", content: "Repaint the northern breakwater in saffron." };
      const session = await filled([...workTurns(200, 210), request, ...steps]);
      await varve.context.compact(session, { budgetTokens: 4_000, splitTurns: true });
      const { entries } = await varve.transcripts.read(session, { limit: 400 });
      const asked = entries.find((entry) => entry.type === "message" && entry.message.id === "ask");
      expect((await varve.context.overview(session)).coveredSeq).toBeGreaterThanOrEqual(
        asked?.seq ?? Number.POSITIVE_INFINITY,
      );
      for (const budgetTokens of [2_000, 4_000, 16_000]) {
        expect(textOf(await varve.context.assemble(session, { budgetTokens }))).toContain("breakwater in saffron");
      }
    });

    test.each([4_000, 8_000, 16_000])(
      "a paste of 17,000 tokens at the end fits %i tokens with all before it",
      async (budgetTokens) => {
        const { varve } = get();
        const rows = Array.from({ length: 1_540 }, (_, index) => `row ${index} of the cargo list weighs some tons`);
        const paste = `Why is the cargo list wrong?\n${rows.join("\n")}\nThe last row looks odd.`;
        const session = await filled([...workTurns(0, 100), { id: "paste", role: "user", content: paste }]);
        const { tokensAfter } = await varve.context.compact(session, { budgetTokens });
        expect(tokensAfter).toBeLessThanOrEqual(budgetTokens);
        const view = await varve.context.assemble(session, { budgetTokens });
        expect(view.estimatedTokens).toBeLessThanOrEqual(budgetTokens);
        const shown = String(view.messages.at(-1)?.content);
        expect(shown).toMatch(/^Why is the cargo list wrong\?/);
        expect(shown).toMatch(/The last row looks odd\.$/);
        expect(shown).toMatch(/open msg#\d+ for the whole/);
        const text = textOf(view);
        expect(text).toContain("<summary");
        // The beginning and the end of the work are both in view.
        for (const index of [0, 99]) expect(text).toContain(thing(index));
      },
    );

    test("the hand-over of work names what was asked, done and left open, and writes nothing", async () => {
      const { varve } = get();
      const todos = [{ content: "Light the beacon", status: "pending" }];
      const session = await filled([
        ...workTurns(1, 90),
        {
          id: "t1",
          role: "assistant",
          content: [{ type: "tool_call", callId: "t", name: "TodoWrite", input: { todos } }],
        },
        { id: "t2", role: "tool", content: [{ type: "tool_result", callId: "t", output: "ok" }] },
      ]);
      for (const isCompacted of [false, true]) {
        if (isCompacted) await varve.context.compact(session, { budgetTokens: 6_000 });
        const before = await varve.context.overview(session);
        const handover = await varve.context.handover(session, { tokens: 700 });
        expect(await varve.context.overview(session)).toEqual(before);
        expect(handover.tokens).toBeLessThanOrEqual(700);
        expect(handover.title).toBe("Check the anchor 1 and note the result");
        expect(handover.description).toMatch(
          /^89 requests; 8 files changed .*npm test passed; 1 of 1 todo open; last: /,
        );
        expect(handover.text).toMatch(/^Requests\n/);
        expect(handover.text).toContain("- [ ] Light the beacon [msg#");
        expect(handover.text).toContain(thing(89));
        expect(handover.text).toContain("- ran npm test: passed");
      }
    });

    test("the hand-over of a chat has its sentences, and the first request as its title", async () => {
      const { varve } = get();
      const said = [
        "hello",
        "Hello! How can I help you?",
        "When does the ferry to Korsund leave on Friday?",
        "The ferry to Korsund leaves on Friday at 07:40 from pier 3, and the ticket costs 18 euros.",
        "Then book two seats for Mirela and me.",
        "Two seats are booked for you and Mirela under the number KS-4471.",
      ];
      const session = await filled(
        said.map((content, index) => ({ id: `m${index}`, role: index % 2 ? "assistant" : "user", content })),
      );
      const { title, description, text } = await varve.context.handover(session);
      expect(title).toBe("When does the ferry to Korsund leave on Friday?");
      expect(description).toBe("6 messages; last: Then book two seats for Mirela and me");
      expect(text).toContain("KS-4471");
      expect(await varve.context.handover(await filled([]))).toMatchObject({ description: "0 messages" });
    });

    test("sessions are named by the first request that names something, live and imported", async () => {
      const { varve, home } = get();
      const live = await filled([]);
      await varve.context.commitTurn(live, "t1", [
        { role: "user", content: "hi" },
        { role: "assistant", content: "Hello!" },
      ]);
      expect((await varve.sessions.get(live.key)).displayName).toBeUndefined();
      const fresh = await varve.sessions.get(live.key);
      await varve.context.commitTurn(fresh, "t2", [
        { role: "user", content: "please sort the ferry timetable by departure. It is in table.ts." },
        { role: "assistant", content: "It is sorted." },
      ]);
      expect((await varve.sessions.get(live.key)).displayName).toBe("Sort the ferry timetable by departure");
      const row = (uuid: string, parentUuid: string | null, role: string, content: unknown) =>
        JSON.stringify({
          type: role,
          uuid,
          parentUuid,
          sessionId: "77777777-2222-4333-8444-555555555555",
          timestamp: "2026-01-07T09:54:20.000Z",
          cwd: "/srv/harbour",
          version: "2.1.0",
          message: { role, content },
        });
      const file = join(home, "77777777-2222-4333-8444-555555555555.jsonl");
      const lines = [
        row("a1", null, "user", "<system-reminder>Be brief.</system-reminder>"),
        row("a2", "a1", "user", "hello"),
        row("a3", "a2", "assistant", [{ type: "text", text: "Hello!" }]),
        row("a4", "a3", "user", "Count the lanterns of the northern pier"),
      ];
      writeFileSync(file, `${lines.join("\n")}\n`);
      await varve.import([file]);
      const { sessions } = await varve.sessions.list({ cwd: "/srv/harbour" });
      expect(sessions.map(({ displayName }) => displayName)).toEqual(["Count the lanterns of the northern pier"]);
    });
  },
  { config: { search: { embedder: "none" } } },
);
