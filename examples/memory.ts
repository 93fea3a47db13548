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
const session = await sessions.getOrCreate("slack", "ann");
await sessions.appendMessage(session.sessionId, "user", "The staging server moved to rack 14.");
await sessions.appendMessage(session.sessionId, "user", "Lunch was excellent today.");
await memory.indexSession(session.sessionId);
await memory.indexChunk({ text: "The vault code is 4711." });

const [rack] = await memory.search("where is the staging server", { sessionKey: session.sessionId });
console.log(`${rack?.source}: ${rack?.text} [${rack?.id}]`);
const [code] = await memory.search("vault code");
console.log(`${code?.source}: ${code?.text}`);
const { messages } = await memory.getStats();
console.log(`${messages} messages`);

await varve.close();
rmSync(home, { recursive: true, force: true });
