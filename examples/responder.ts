/** Answer messages. Without a model, replies quote memories and history. Run: node examples/responder.ts */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AutoResponder } from "varve/managers";

const home = mkdtempSync(join(tmpdir(), "varve-example-"));
const responder = new AutoResponder({ home, config: { turn: { runner: "offline" } } }, { debounceMs: 0 });
const ann = { channel: "telegram", userId: "5054873275", name: "Ann" };
const bob = { channel: "telegram", userId: "61234", name: "Bob" };

await responder.respond({ ...ann, text: "My flight to Lisbon is on Friday at 7." });
const reply = await responder.respond({ ...ann, text: "When is my flight?" });
console.log(reply?.split("\n").slice(0, 2).join("\n").replace(/ \[.*/, ""));
console.log(
  await responder.respond({ ...ann, text: "/remember I prefer the aisle seat." }).then((text) => text?.split(" [")[0]),
);
// Everybody has a conversation and memories of their own.
for (const text of ["When is my flight?", "/recall aisle seat"]) {
  const answer = await responder.respond({ ...bob, text });
  console.log(`Bob hears of Ann: ${/Lisbon|I prefer/.test(answer ?? "")}`);
}

await responder.close();
rmSync(home, { recursive: true, force: true });
