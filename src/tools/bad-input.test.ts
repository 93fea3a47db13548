import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stage, setStage } from "./stage.test-util.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.end());

const id = "sum_0123456789abcdef";
/** What is sent, what the error names, and what its remedy says to send instead. */
const faults: [tool: string, input: unknown, message: RegExp, remedy: RegExp][] = [
  ["lcm_grep", {}, /pattern is missing/, /Send pattern: A regular expression/],
  ["lcm_grep", { pattern: "" }, /pattern "": must not be empty/, /Send pattern/],
  ["lcm_grep", { pattern: 7 }, /pattern 7/, /Send pattern/],
  ["lcm_grep", { pattern: "x", patern: "y" }, /no parameter "patern"/, /parameters are pattern, mode, scope/],
  ["lcm_grep", { pattern: "x", limit: 0 }, /limit 0: must be a whole number from 1 to 200/, /Send limit/],
  ["lcm_grep", { pattern: "x", limit: 201 }, /limit 201: must be a whole number from 1 to 200/, /Send limit/],
  ["lcm_grep", { pattern: "x", limit: "5" }, /limit "5": must be a whole number/, /1 to 200/],
  ["lcm_grep", { pattern: "x", mode: "glob" }, /mode "glob": must be one of regex, full_text/, /regex when absent/],
  ["lcm_grep", { pattern: "x", since: "yesterday" }, /since "yesterday": is no date/, /2026-05-01/],
  ["lcm_grep", { pattern: "x", since: "2026-02-31" }, /is no date/, /2026-05-01/],
  ["lcm_grep", { pattern: "x", before: 1_700_000_000 }, /looks like seconds/, /milliseconds/],
  ["lcm_grep", { pattern: "x", since: true }, /since true: must be a date/, /2026-05-01/],
  ["lcm_grep", { pattern: "x", since: "2026-05-02", before: "2026-05-01" }, /earlier than before/, /Send before/],
  ["lcm_grep", { pattern: "(" }, /pattern cannot be used/, /RE2 syntax/],
  ["lcm_grep", { pattern: "(?<=a)b" }, /pattern cannot be used/, /no look-around/],
  ["lcm_grep", { pattern: "…", mode: "full_text" }, /no word to look for/, /mode regex/],
  ["lcm_grep", { pattern: "x", conversationId: "agent:main:main", allConversations: true }, /exclude/, /Send/],
  ["lcm_grep", { pattern: "x", conversationId: "agent:main:nobody" }, /no session/, /session_list/],
  ["lcm_grep", { pattern: "x", conversationId: "agent:other:main" }, /no session/, /session_list/],
  ["lcm_grep", { pattern: "x", conversationId: "99" }, /no conversation 99/, /session_list/],
  ["lcm_grep", "pattern", /takes an object of named parameters/, /parameters are pattern/],
  ["lcm_grep", ["x"], /takes an object of named parameters/, /parameters are pattern/],
  ["lcm_describe", {}, /id is missing/, /sum_… for a summary/],
  ["lcm_describe", { id: "sum_12" }, /is no citation/, /msg#N/],
  ["lcm_describe", { id: "../etc/passwd" }, /is no citation/, /msg#N/],
  ["lcm_describe", { id }, /There is no summary/, /sum_/],
  ["lcm_describe", { id: "msg#999999" }, /There is no msg#999999/, /lcm_grep/],
  ["lcm_describe", { id: "file_0123456789abcdef" }, /There is no file/, /id/],
  ["lcm_describe", { id, startLine: 1 }, /not of a summary/, /Send startLine/],
  ["lcm_describe", { id: "msg#1", expandFile: true }, /for file_… ids/, /Send expandFile/],
  ["lcm_describe", { id: "msg#1", startLine: 5, endLine: 2 }, /must not be before startLine/, /Send endLine/],
  ["lcm_describe", { id: "msg#1", tokenCap: -1 }, /tokenCap -1: must be a whole number/, /Send tokenCap/],
  ["lcm_expand", {}, /Either summaryIds or query is needed, and not both/, /Send summaryIds/],
  ["lcm_expand", { summaryIds: [id], query: "x" }, /and not both/, /or send a query instead/],
  ["lcm_expand", { summaryIds: [] }, /at least one summary/, /Send summaryIds/],
  ["lcm_expand", { summaryIds: id }, /must be a list of ids/, /Send summaryIds/],
  ["lcm_expand", { summaryIds: ["sum_x"] }, /summaryIds\[0\] "sum_x": is not the id of a summary/, /Send summaryIds/],
  ["lcm_expand", { summaryIds: [id] }, /There is no summary/, /sum_/],
  ["lcm_expand", { query: "x", maxDepth: 21 }, /maxDepth 21/, /0 to 20/],
  ["lcm_expand", { query: "x", includeMessages: "yes" }, /must be true or false/, /Send includeMessages/],
  ["lcm_expand_query", {}, /prompt is missing/, /Send prompt/],
  ["lcm_expand_query", { prompt: "x", summaryIds: [id], query: "x" }, /exclude each other/, /Send summaryIds/],
  ["lcm_expand_query", { prompt: "x", maxTokens: 0 }, /maxTokens 0/, /2000 when absent/],
  ["memory_recall", {}, /query is missing/, /Send query/],
  ["memory_recall", { query: "x", scope: "everything" }, /must be global, agent:<id>/, /Send scope/],
  ["memory_recall", { query: "x", category: "things" }, /must be one of profile, preferences/, /Send category/],
  ["memory_recall", { query: "x", asOf: "yesterday" }, /is no date/, /Send asOf/],
  ["memory_store", { text: "" }, /must not be empty/, /Send text/],
  ["memory_store", { text: "x", importance: 2 }, /must be 0 to 1/, /Send importance/],
  ["memory_update", { memoryId: "mem_x", text: "y" }, /is not the id of a memory/, /memory_recall/],
  ["memory_update", { memoryId: "mem_0123456789012345678" }, /text, importance or category is needed/, /Send text/],
  ["memory_update", { memoryId: "mem_0123456789012345678", text: "y" }, /There is no memory/, /memory_list/],
  ["memory_forget", {}, /Either memoryId or query/, /Send memoryId/],
  ["memory_forget", { query: "zebra" }, /No memory matches/, /memoryId/],
  ["memory_list", { limit: 0 }, /limit 0/, /1 to 200/],
  ["session_list", { key: 5 }, /key 5/, /Send key/],
  ["session_list", { limit: 5 }, /no parameter "limit"/, /parameters are agent, key/],
  ["session_status", {}, /one has to be named/, /session_list/],
  ["session_status", { key: "agent:main:nobody" }, /no session/, /session/],
];

describe("bad input", () => {
  it.each(faults)("%s %j is refused with what to send instead", async (tool, input, message, remedy) => {
    await expect(stage.call(tool, input)).rejects.toMatchObject({
      message: expect.stringMatching(message),
      remedy: expect.stringMatching(remedy),
      code: expect.stringMatching(/BAD_REQUEST|NOT_FOUND/),
    });
  });

  it("names every fault at once", async () => {
    await expect(stage.call("lcm_grep", { limit: 0, sort: "age", more: 1 })).rejects.toMatchObject({
      message: expect.stringMatching(/pattern is missing.*limit 0.*sort "age".*no parameter "more"/s),
    });
  });
});
