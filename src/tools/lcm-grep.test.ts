import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stage, setStage } from "./stage.test-util.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.end());

interface Found {
  matches: { citation: string; kind: string; snippet: string; role?: string; time: string }[];
  cuts: string[];
}
const grep = async (input: unknown) => {
  const { markdown, structured } = await stage.call("lcm_grep", input);
  return { markdown, ...(structured as unknown as Found) };
};

describe("lcm_grep", () => {
  it("finds what is no longer in view, with a citation", async () => {
    const { markdown, matches, cuts } = await grep({ pattern: "ZX-\\d+", scope: "messages" });
    expect(matches).toMatchObject([{ kind: "message", role: "user", time: "2026-01-01T07:00:00.000Z" }]);
    expect(markdown).toContain(`**${matches[0]?.citation}**`);
    expect(markdown).toContain("> The vault code is ZX-4711.");
    expect(cuts).toEqual([]);
    expect(markdown).not.toContain("**Cut:**");
  });

  it("says so when there are more matches than it shows", async () => {
    const { markdown, matches, cuts } = await grep({ pattern: "deploy", limit: 3 });
    expect(matches).toHaveLength(3);
    expect(cuts).toHaveLength(1);
    expect(markdown).toContain(`**Cut:** ${cuts[0]}.`);
  });

  it("keeps within the room of an answer and says what was left out", async () => {
    const { markdown, matches, cuts } = await grep({ pattern: "Turn", limit: 200 });
    expect(matches.length).toBeLessThan(200);
    expect(markdown.length).toBeLessThanOrEqual(40_000);
    expect(JSON.stringify(matches).length).toBeLessThanOrEqual(40_000);
    expect(cuts.join()).toMatch(/do not fit|matches are shown/);
  });

  it("looks in a stretch of time, given as dates or milliseconds", async () => {
    const day = await grep({ pattern: "Turn", since: "2026-01-02", before: "2026-01-03T00:00Z", scope: "messages" });
    expect(day.matches).toHaveLength(24);
    const same = await grep({
      pattern: "Turn",
      since: Date.UTC(2026, 0, 2),
      before: String(Date.UTC(2026, 0, 3)),
      scope: "messages",
    });
    expect(same.matches).toEqual(day.matches);
  });

  it("says what was looked at when nothing matches", async () => {
    const { markdown, matches } = await grep({ pattern: "nowhere-to-be-found" });
    expect(matches).toEqual([]);
    expect(markdown).toMatch(/Nothing matches `nowhere-to-be-found`\. Looked at \d+ messages/);
  });

  it("quotes what is in the history so that no line of it looks like its own", async () => {
    const { markdown } = await grep({ pattern: "obey me", scope: "messages" });
    const lines = markdown.split(/[\n\r\u2028]/);
    expect(lines.filter((line) => line.startsWith("# "))).toEqual(["# lcm_grep: 1 match"]);
    expect(lines.filter((line) => line.includes("obey me")).every((line) => line.startsWith("> "))).toBe(true);
    expect(markdown).not.toContain("\u0007");
  });

  it("takes a session key, a session id and a conversation's number as conversationId", async () => {
    const { key, sessionId, conversation } = stage.session;
    for (const conversationId of [key, sessionId, String(conversation), conversation]) {
      expect((await grep({ pattern: "ZX-4711", scope: "messages", conversationId })).matches).toHaveLength(1);
    }
  });
});
