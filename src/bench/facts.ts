import { seededRandom } from "./conversation.ts";

const people = "Ada Ben Cleo Dan Eva Finn Gwen Hugo Iris Jon Kira Liam Mona Nils Olga Paul Rosa Sven Tara Uwe".split(
  " ",
);
const verbs =
  "keeps prefers avoids collects repairs rents borrowed sold bought painted planted maintains reviews deploys".split(
    " ",
  );
const adjectives =
  "green wooden broken cheap heavy quiet northern annual shared encrypted nightly rusty portable antique spare".split(
    " ",
  );
const nouns =
  "bicycle boat router garden server telescope piano kettle database ladder camera tent lathe kiln dashboard pipeline greenhouse drone loom printer".split(
    " ",
  );
const places =
  "Lisbon Oslo Kyoto Quito Turin Leeds Ghent Cork Malmo Porto Basel Graz Bergen Tampere Split Varna Aarhus Nantes".split(
    " ",
  );

/** A short fact, another for every number; its words are shared with many others. Every second one has figures. */
export function factAt(index: number): string {
  const random = seededRandom(index + 1);
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
  if (index % 2 === 1) {
    const first = `${pick(people)} ${pick(verbs)} the ${pick(adjectives)} ${pick(nouns)} in ${pick(places)}`;
    return `${first} because ${pick(people)} ${pick(verbs)} a ${pick(adjectives)} ${pick(nouns)} near ${pick(places)}.`;
  }
  const when = `${2000 + Math.floor(random() * 26)}-${1 + Math.floor(random() * 12)}`;
  return `${pick(people)} ${pick(verbs)} the ${pick(adjectives)} ${pick(nouns)} in ${pick(places)} since ${when}, note ${index}.`;
}

/** Questions in the words of some of the facts, one in five about something that is in none of them. */
export function questionsOf(count: number, facts: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    if (index % 5 === 4) return `where did grandmother hide recipe number ${index}`;
    const random = seededRandom(9_000_000 + index);
    const words = factAt(Math.floor(random() * facts)).split(" ");
    return `What is it that ${words[0]} ${words[1]} with the ${words[3]} ${words[4]} in ${words[6]}?`;
  });
}
