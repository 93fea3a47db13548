import { describe, expect, it } from "vitest";
import { compareFacts } from "./compare-facts.ts";

describe("two facts", () => {
  it.each([
    ["I am allergic to nuts.", "I am allergic to penicillin.", ["conflict", "different"]],
    ["The billing API is written in Go.", "The billing API is rate limited to 50.", ["different"]],
    ["The billing API is rate limited to 50.", "The billing API is owned by Lena.", ["different"]],
    ["Meeting notes. We ship on Monday.", "Meeting notes. The budget was cut by half.", ["different"]],
    ["My phone is a Pixel 8.", "My phone is broken.", ["different", "conflict"]],
    ["My phone is a Pixel 8.", "My phone is now broken.", ["different", "conflict"]],
    ["I have a cat called Tom.", "I have a cat called Mia.", ["different", "conflict"]],
    ["I have a cat called Tom.", "I now have a second cat called Mia.", ["different", "conflict"]],
    ["I live in Ghent.", "I moved to Antwerp.", ["update"]],
    ["I live in Ghent.", "I live in Antwerp.", ["update"]],
    ["I live in New York.", "I moved to York.", ["update"]],
    ["The password is K7.", "The password is K7-NEW.", ["update"]],
    ["I live in Ghent and work at Acme.", "I live in Antwerp.", ["conflict"]],
    ["I live in Ghent. My cat is Tom.", "I live in Antwerp.", ["conflict"]],
    ["My sister lives in Ghent.", "I live in Antwerp.", ["different"]],
    [
      "The port of the staging database is 5433.",
      "The port of the production database is 5432.",
      ["different", "conflict"],
    ],
    ["The port of the staging database is 5433.", "The staging database's port is 5440.", ["update"]],
    ["The shop listens on port 8080.", "The shop listens on port 9090.", ["update"]],
    ["I use Vim.", "I now use Helix.", ["update"]],
    ["I use Vim for editing.", "I switched from Vim to Helix.", ["update"]],
    ["I like jazz.", "I no longer like jazz.", ["update"]],
    ["I like jazz.", "I do not like jazz.", ["conflict"]],
    ["I drink coffee every morning.", "I stopped drinking coffee.", ["update"]],
    ["The meeting is on Monday.", "The meeting was moved to Friday.", ["update"]],
    ["My favourite colour is blue.", "My favorite color is green.", ["update"]],
    ["My favourite colour is blue.", "Blue is my favourite color!", ["same"]],
    ["I'm allergic to nuts.", "I am allergic to nuts", ["same"]],
    ["We meet on Mondays at 9.", "On Mondays we meet at nine.", ["same"]],
    ["Lena is Tom's boss.", "Tom is Lena's boss.", ["different", "conflict"]],
    ["Ich wohne in Kiel.", "Ich bin nach Bremen gezogen.", ["update"]],
    ["Ich benutze Vim.", "Jetzt benutze ich Helix.", ["update"]],
    ["Meine Lieblingsfarbe ist Blau.", "Meine Lieblingsfarbe ist Grün.", ["update"]],
    ["Ich bin allergisch gegen Nüsse.", "Ich bin allergisch gegen Penicillin.", ["different", "conflict"]],
    ["J'habite à Lyon.", "J'ai déménagé à Nantes.", ["update"]],
    ["Vivo en Madrid.", "Me he mudado a Sevilla.", ["update"]],
    ["Я живу в Москве.", "Я переехала в Казань.", ["update"]],
    ["我住在上海。", "我搬到了深圳。", ["update"]],
    ["我对花生过敏。", "我对青霉素过敏。", ["different", "conflict"]],
    ["私は大阪に住んでいます。", "京都に引っ越しました。", ["update"]],
    ["저는 부산에 살아요.", "저는 서울로 이사했어요.", ["update"]],
    ["我用Vim写代码。", "我现在用Helix写代码。", ["update"]],
  ] as const)("%s | %s", (older, newer, relations) => {
    expect(relations).toContain(compareFacts(newer, older).relation);
  });
});
