import { seededRandom } from "./conversation.ts";

const verbs =
  "keeps prefers avoids collects repairs rents borrowed sold bought painted planted maintains reviews deploys".split(
    " ",
  );
const syllables = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split(" ");
const vocabulary = 8_000;

/** A short fact for every number, with words by frequency and figures in every second one. */
export function factAt(index: number): string {
  const random = seededRandom(Math.imul(index + 1, 2654435761));
  const verb = () => verbs[Math.floor(random() * verbs.length)] ?? "";
  const [who, what, which, where, other] = Array.from({ length: 5 }, () => thing(random));
  const end = index % 2 === 0 ? `since ${1900 + Math.floor(random() * 126)}, note ${index}` : `because of ${other}`;
  return `${who} ${verb()} the ${what} ${which} in ${where} ${end}.`;
}

/** Words of three syllables with a natural frequency distribution. */
function thing(random: () => number): string {
  const place = Math.floor(random() ** 2 * vocabulary);
  return [place % 20, Math.floor(place / 20) % 20, Math.floor(place / 400)].map((at) => syllables[at]).join("");
}

/** Queries with words of some facts; one in five matches none. */
export function createQuestions(count: number, facts: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    if (index % 5 === 4) return `where did grandmother hide recipe number ${index}`;
    const random = seededRandom(Math.imul(index + 1, 40503));
    const words = factAt(Math.floor(random() * facts)).split(" ");
    return `What is it that ${words[0]} ${words[1]} with the ${words[3]} ${words[4]} in ${words[6]}?`;
  });
}
