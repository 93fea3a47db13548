/** Conversations by channel and user: store, load, summarise and reset them. Run: node examples/sessions.ts */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "varve/managers";

const home = mkdtempSync(join(tmpdir(), "varve-example-"));
const sessions = new SessionManager({ home });

const session = await sessions.getOrCreate("telegram", "5054873275");
await sessions.appendMessage(session.sessionId, "user", "My flight is on Friday at 7.");
await sessions.appendMessage(session.sessionId, "assistant", "Noted. From which airport?");
await sessions.appendMessage(session.sessionId, "user", "From Lisbon.");

for (const { role, content } of await sessions.loadTranscript(session.sessionId, 2)) console.log(`${role}: ${content}`);

const compacted = await sessions.compactSession(session.sessionId, "The user flies from Lisbon on Friday at 7.");
console.log(`${compacted.sessionKey}: ${compacted.messageCount} messages, ${compacted.compactionCount} compaction`);

const renewed = await sessions.resetSession(session.sessionId);
console.log(`a new session: ${renewed.sessionId !== session.sessionId}, compactions kept: ${renewed.compactionCount}`);

await sessions.close();
rmSync(home, { recursive: true, force: true });
