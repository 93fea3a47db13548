import { describe, expect, it } from "vitest";
import { recallQuery, wantsRecall } from "./wants-recall.ts";

describe("recall is skipped", () => {
  it.each([
    "hi",
    "Good morning!",
    "thanks a lot",
    "ok",
    "👍🎉",
    "   ",
    "/new",
    "/model opus",
    "go on",
    "fix it",
    "你好",
    "好的",
    "谢谢！",
    "改一下",
    "Danke schön",
  ])("for %j", (prompt) => {
    expect(wantsRecall(prompt)).toBe(false);
  });
});

describe("recall is triggered", () => {
  it.each([
    "When is my flight?",
    "why?",
    "Book the usual table for two",
    "remember it",
    "as last time",
    "open 'a.md'",
    "/recall flight",
    "/remember",
    "/context",
    "上次",
    "你记得吗",
    "我最喜欢的颜色是什么",
    "帮我订平常那家餐厅",
    "Was hatten wir vorhin?",
  ])("for %j", (prompt) => {
    expect(wantsRecall(prompt)).toBe(true);
  });

  it("with the words after a command", () => {
    expect(recallQuery("/recall my flight")).toBe("my flight");
    expect(recallQuery("When is my flight?")).toBe("When is my flight?");
  });
});
