import { expect, test } from "vitest";
import { findExamples, type LoggedMessage } from "./find-examples.ts";

const hour = 3_600_000;

function log(...lines: [role: "user" | "assistant", text: string, hours: number][]): LoggedMessage[] {
  return lines.map(([role, text, hours], index) => ({
    seq: index + 1,
    conversation: 1,
    role,
    text,
    time: hours * hour,
  }));
}

test("a question that was asked again would have been answered by the earlier reply", () => {
  const messages = log(
    ["user", "Which port does the staging database listen on?", 0],
    ["assistant", "Port 5433.", 0],
    ["user", "Thanks.", 0],
    ["user", "What port does the staging database listen on again?", 30],
  );
  expect(findExamples(messages)).toEqual([
    {
      kind: "asked again",
      query: "What port does the staging database listen on again?",
      conversation: 1,
      before: 30 * hour,
      relevant: [1, 2],
    },
  ]);
});

test("the same question within minutes, and another question, are no examples", () => {
  const messages = log(
    ["user", "Which port does the staging database listen on?", 0],
    ["assistant", "Port 5433.", 0],
    ["user", "Which port does the staging database listen on?", 0.1],
    ["user", "Which room is the meeting in on Friday morning?", 30],
  );
  expect(findExamples(messages)).toEqual([]);
});

test("a corrected answer points to the earlier message with the fact", () => {
  const messages = log(
    ["user", "My dentist appointment moved to Thursday at nine.", 0],
    ["assistant", "Noted.", 0],
    ["user", "When is my dentist appointment?", 20],
    ["assistant", "On Tuesday.", 20],
    ["user", "No, it moved to Thursday at nine.", 20],
  );
  expect(findExamples(messages)).toMatchObject([
    { kind: "corrected", query: "When is my dentist appointment?", before: 20 * hour, relevant: [1] },
  ]);
});

test("a correction of something never said is no example", () => {
  const messages = log(
    ["user", "When is my dentist appointment?", 20],
    ["assistant", "On Tuesday.", 20],
    ["user", "No, on Thursday at nine.", 20],
  );
  expect(findExamples(messages)).toEqual([]);
});
