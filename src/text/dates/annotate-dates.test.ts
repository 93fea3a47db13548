import { describe, expect, it } from "vitest";
import { annotateDates } from "./annotate-dates.ts";

// A Wednesday.
const said = Date.UTC(2026, 4, 13, 15);

describe("relative dates", () => {
  it.each([
    ["I saw Ann yesterday.", "I saw Ann yesterday (2026-05-12)."],
    ["I went there the day before yesterday.", "I went there the day before yesterday (2026-05-11)."],
    ["My flight is tomorrow at 7.", "My flight is tomorrow (2026-05-14) at 7."],
    ["We met last Friday.", "We met last Friday (2026-05-08)."],
    ["We meet next Wednesday.", "We meet next Wednesday (2026-05-20)."],
    ["I moved last month.", "I moved last month (2026-04)."],
    ["I graduated last year.", "I graduated last year (2025)."],
    ["I ran a race last weekend.", "I ran a race last weekend (2026-05-09 to 2026-05-10)."],
    ["I was ill last week.", "I was ill last week (2026-05-04 to 2026-05-10)."],
    ["I started two weeks ago.", "I started two weeks ago (2026-04-27 to 2026-05-03)."],
    ["I bought it 3 days ago.", "I bought it 3 days ago (2026-05-10)."],
    ["I started a few days ago.", "I started a few days ago."],
    ["Ich war gestern in Kiel.", "Ich war gestern (2026-05-12) in Kiel."],
    ["Wir treffen uns nächsten Freitag.", "Wir treffen uns nächsten Freitag (2026-05-15)."],
    ["Ich trinke jeden Morgen Tee.", "Ich trinke jeden Morgen Tee."],
    ["Je suis allé à Lyon hier.", "Je suis allé à Lyon hier (2026-05-12)."],
    ["Fui al médico hace 2 días.", "Fui al médico hace 2 días (2026-05-11)."],
    ["L'ho visto ieri.", "L'ho visto ieri (2026-05-12)."],
    ["Cheguei ontem.", "Cheguei ontem (2026-05-12)."],
    ["Вчера я был в Омске.", "Вчера (2026-05-12) я был в Омске."],
    ["我昨天去了北京。", "我昨天 (2026-05-12)去了北京。"],
    ["先週京都に行きました。", "先週 (2026-05-04 to 2026-05-10)京都に行きました。"],
    ["어제 부산에 갔어요.", "어제 (2026-05-12) 부산에 갔어요."],
    ["The todayshow is on.", "The todayshow is on."],
    ["It was yesterday (2026-05-12).", "It was yesterday (2026-05-12)."],
  ])("%s", (text, wanted) => {
    expect(annotateDates(text, said, "UTC")).toBe(wanted);
  });

  it("are resolved for the first ones only in a text that consists of them", () => {
    const resolved = annotateDates("昨天".repeat(10_000), said, "UTC");
    expect(resolved.match(/2026-05-12/g)).toHaveLength(6);
  });

  it("are those of the time zone of the person", () => {
    const late = Date.UTC(2026, 4, 13, 23, 30);
    expect(annotateDates("I saw Ann yesterday.", late, "Asia/Tokyo")).toContain("2026-05-13");
  });
});
