/** Search messages and stored facts. Run: node examples/memory.ts */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openVarve } from "varve";
import { MemoryManager, SessionManager } from "varve/managers";

const home = mkdtempSync(join(tmpdir(), "varve-example-"));
const varve = await openVarve({ home });
const sessions = new SessionManager({ varve });
const memory = new MemoryManager({ varve });

await memory.ensureSchema();
const ann = (await sessions.getOrCreate("slack", "ann")).sessionId;
const bob = (await sessions.getOrCreate("slack", "bob")).sessionId;
await sessions.appendMessage(ann, "user", "The staging server moved to rack 14.");
await sessions.appendMessage(ann, "user", "Lunch was excellent today.");
await memory.indexSession(ann);
await memory.indexChunk({ text: "The vault code is 4711.", sessionKey: ann });

// A search with a session finds what its person may see; one without is the application's own, over everybody.
const [rack] = await memory.search("where is the staging server", { sessionKey: ann });
console.log(`${rack?.source}: ${rack?.text} [${rack?.id}]`);
const [code] = await memory.search("vault code", { sessionKey: ann });
console.log(`${code?.source}: ${code?.text}`);
const bobs = await memory.search("vault code", { sessionKey: bob });
console.log(`Bob finds ${bobs.length}`);
const { messages } = await memory.getStats();
console.log(`${messages} messages`);

await varve.close();
rmSync(home, { recursive: true, force: true });
