import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatStamp } from "../../domain/index.ts";
import { estimateTokens } from "../../text/index.ts";
import { pathsIn } from "./extractive/print.ts";
import { splitSentences } from "./extractive/sentences.ts";
import { extractiveSummary, extractiveTokensMin, unfoldSummaries } from "./extractive.ts";
import type { SummaryTurn } from "./summary-request.ts";

const noon = Date.UTC(2024, 4, 8, 12);
const minuteMs = 60_000;
const say = (text: string, fields: Partial<SummaryTurn> = {}): SummaryTurn => ({
  time: noon,
  role: "user",
  text,
  ...fields,
});
const smallTalk = Array.from({ length: 60 }, (_, index) =>
  say(["Wow, cool!", "Thanks a lot.", "That sounds nice.", "How are you?"][index % 4] ?? "", {
    time: noon + index * minuteMs,
    role: index % 2 === 0 ? "user" : "assistant",
  }),
);

describe("the built-in summariser", () => {
  it("keeps decisions, numbers, identifiers and errors, and lets small talk go", () => {
    const facts = [
      "We decided to keep the queue in PostgreSQL because Redis lost jobs twice.",
      "The deadline for the Lisbon release is 14 March 2025.",
      "Request req_8f3a91 failed with ECONNRESET at 10.2.0.7:5432.",
      "I prefer oat milk and I am allergic to peanuts.",
    ];
    const turns = smallTalk.flatMap((turn, index) =>
      index % 15 === 7 ? [turn, say(facts[(index - 7) / 15] ?? "")] : turn,
    );
    const content = extractiveSummary({ turns, depth: 0, targetTokens: 220 });
    for (const fact of facts) expect(content).toContain(fact);
    expect(content).not.toContain("Thanks a lot.");
  });

  it("has the lines every summary has, and the expand line is the last", () => {
    const lines = extractiveSummary({ turns: smallTalk, depth: 0, sourceTokens: 4321 }).split("\n");
    expect(lines).toContain("Files: none");
    expect(lines).toContain("Stands for 4321 tokens.");
    expect(lines.at(-1)).toMatch(/^Expand for details about: \S/);
  });

  it("names files with what was done to them", () => {
    const content = extractiveSummary({
      turns: [
        say("Look at src/store/open.ts and/or the notes in docs/a.md please.", { paths: [] }),
        say("done", { role: "tool", paths: [{ path: "src/store/open.ts", operation: "edited" }] }),
      ],
      depth: 0,
    });
    expect(content).toContain("Files: docs/a.md, src/store/open.ts (edited)");
  });

  it("says when and by whom, in order, and the time only when it moves on", () => {
    const content = extractiveSummary({
      turns: [
        say("I moved to Porto in 2019.", { speaker: "Ines" }),
        say("My brother Rui works at the harbour.", { speaker: "Ines", time: noon + minuteMs }),
        say("The boat Gaivota leaves on Friday.", { speaker: "Tom", time: noon + 60 * minuteMs }),
        say("We met the pilot in Setubal.", { speaker: "Tom", time: noon + 26 * 60 * minuteMs }),
      ],
      depth: 0,
    });
    expect(content.split("\n").slice(0, 4)).toEqual([
      "[2024-05-08 12:00Z] Ines: I moved to Porto in 2019.",
      "Ines: My brother Rui works at the harbour.",
      "[13:00Z] Tom: The boat Gaivota leaves on Friday.",
      "[2024-05-09 14:00Z] Tom: We met the pilot in Setubal.",
    ]);
  });

  it("says a thing once however often it was said", () => {
    const turns = Array.from({ length: 20 }, () => say("The server gannet-04 needs more memory before Monday."));
    expect(extractiveSummary({ turns, depth: 0 }).split("gannet-04")).toHaveLength(2);
  });

  it("always tells the newest request of the user", () => {
    const turns = [...smallTalk, say("Can you do it?"), say("Working on it.", { role: "assistant" })];
    expect(extractiveSummary({ turns, depth: 0, targetTokens: 120 })).toContain("Can you do it?");
  });

  it("reads Chinese by its own marks", () => {
    const turns = [say("我们决定使用新的数据库。天气很好！昨天服务器报错了，错误代码是502。")];
    const content = extractiveSummary({ turns, depth: 0 });
    expect(content).toContain("我们决定使用新的数据库。");
    expect(splitSentences(turns[0]?.text ?? "", 10).sentences).toHaveLength(3);
  });

  it("condenses summaries line by line, without their marks, with their files", () => {
    const leaf = (day: number, text: string) => ({
      time: Date.UTC(2024, 4, day),
      text: `[2024-05-0${day} 12:00] Ines: ${text}\nFiles: a${day}.ts (edited)\n[Truncated for context management] stands for 900 tokens\nExpand for details about: Kestrel${day}`,
    });
    const content = extractiveSummary({
      turns: [leaf(1, "We chose SQLite."), leaf(2, "The Oslo trip is booked.")],
      depth: 1,
    });
    expect(content).toContain(
      "[2024-05-01 12:00Z] Ines: We chose SQLite.\n[2024-05-02 12:00Z] Ines: The Oslo trip is booked.",
    );
    expect(content).toContain("Files: a1.ts (edited), a2.ts (edited)");
    expect(content).not.toContain("[Truncated");
    expect(content.split("Stands for")).toHaveLength(2);
    expect(content.split("\n").at(-1)).toBe("Expand for details about: Kestrel1, Kestrel2");
  });

  it("says what of a huge input it did not read", () => {
    const content = extractiveSummary({ turns: [say("x".repeat(1_000_000))], depth: 0 });
    expect(content).toContain("800000 characters not read");
    expect(estimateTokens(content)).toBeLessThanOrEqual(512);
  });

  it("stays within the smallest target when its last line takes more than its share", () => {
    const texts = ["Files:", "0!", "!!00", "x_1 \ud800 { ok. /a/b.ts 。", "!!!!!e", "!!F!!!", "!G", "Paris ``` 。"];
    const turns = texts.map((text, index) => ({
      time: index === 5 ? -1 : 0,
      text,
      role: index === 5 || index === 7 ? ("assistant" as const) : ("user" as const),
    }));
    const content = extractiveSummary({ turns, targetTokens: 0, depth: 0 });
    expect(estimateTokens(content)).toBeLessThanOrEqual(extractiveTokensMin);
  });

  it("is the same every time, within its target, and never throws", () => {
    const word = fc.constantFrom(
      "ok.",
      "Paris",
      "/a/b.ts",
      "```",
      "\n",
      "。",
      "\u0000",
      "\ud800",
      "x_1",
      "Files:",
      "{",
      "?",
      "12",
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 60 }).map((words) => words.join(" ")),
    );
    const turn = fc.record({ time: fc.double(), text, role: fc.constantFrom("user", "assistant", "tool" as const) });
    fc.assert(
      fc.property(
        fc.array(turn),
        fc.integer({ min: 0, max: 400 }),
        fc.nat({ max: 3 }),
        (turns, targetTokens, depth) => {
          const input = { turns: turns as SummaryTurn[], targetTokens, depth };
          const content = extractiveSummary(input);
          expect(content).toBe(extractiveSummary(input));
          expect(estimateTokens(content)).toBeLessThanOrEqual(Math.max(extractiveTokensMin, targetTokens));
          expect(content.isWellFormed()).toBe(true);
          expect(content).toContain("Stands for ");
        },
      ),
      { numRuns: 300 },
    );
  });

  // Anything but linear work would take hours here, which the limit of a test does not allow.
  it("is linear on hostile text", () => {
    const texts = [
      "x".repeat(4e6),
      "a b. ".repeat(8e5),
      "\u0000".repeat(4e6),
      "a/".repeat(2e6),
      "a.".repeat(2e6),
      "A b".repeat(1e6),
    ];
    const content = extractiveSummary({ turns: texts.map((text) => say(text)), depth: 0 });
    expect(estimateTokens(content)).toBeLessThanOrEqual(512);
  });
});

describe("paths in a text", () => {
  it("are found in prose, code and JSON, and not in words joined by a slash", () => {
    expect(pathsIn('see "./src/a.ts:12", ~/notes/x.md, /etc/hosts/conf, package.json.')).toEqual([
      "./src/a.ts",
      "~/notes/x.md",
      "/etc/hosts/conf",
      "package.json",
    ]);
    expect(pathsIn("and/or 1/2 km/h 12/05/2024 https://a.example/b.ts e.g. done.")).toEqual([]);
  });
});

it("the times of condensed summaries stay the same through every depth, in every zone and at every change of the clock", () => {
  const zones = ["UTC", "Asia/Shanghai", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe"];
  const starts = [
    Date.UTC(2026, 10, 16, 15, 50),
    Date.UTC(2026, 2, 8, 6, 40),
    Date.UTC(2026, 9, 25, 0, 20),
    Date.UTC(2026, 10, 1, 5, 10),
  ];
  for (const timeZone of zones) {
    for (const start of starts) {
      const said = Array.from({ length: 12 }, (_, index) => ({
        time: start + index * 20 * 60_000,
        role: "user" as const,
        text: `We chose berth ${index} for the ferry Aurora${index} at pier ${index * 3}.`,
      }));
      const known = new Set(said.map(({ time }) => formatStamp(time, timeZone)));
      let turns: SummaryTurn[] = said;
      for (let depth = 0; depth < 3; depth += 1) {
        const text = extractiveSummary({ turns, depth, targetTokens: 2_000, timeZone });
        const read = unfoldSummaries([{ time: start, text }], timeZone).turns;
        expect(read.length, text).toBeGreaterThan(5);
        for (const { time } of read)
          expect(known, `${timeZone} depth ${depth}\n${text}`).toContain(formatStamp(time, timeZone));
        const last = said.at(-1)?.time ?? start;
        turns = [{ time: start, until: last, text }];
      }
    }
  }
});

it("stamps of older summaries, which name no zone, are read in the zone of the settings", () => {
  const [turn] = unfoldSummaries(
    [{ time: 0, text: "[2026-11-16 20:34] User: The ferry left." }],
    "Asia/Shanghai",
  ).turns;
  expect(turn?.time).toBe(Date.UTC(2026, 10, 16, 12, 34));
});
