/** A gateway to be killed: it says its port and goes on until it dies. */
import { writeSync } from "node:fs";
import { startGateway } from "../../src/http/index.ts";
import { type ConfigInput, openVarve } from "../../src/index.ts";
import { modelSettings } from "../support/chat-server.ts";

const [home = "", database = "", model = "", token = "", sections = "{}"] = process.argv.slice(2);
const varve = await openVarve({
  home,
  database,
  config: {
    models: modelSettings(model),
    search: { embedder: "none" },
    store: { busyTimeoutMs: 600_000 },
    memory: { recall: false },
    // A lease is held for several beats of a slow machine; a stop waits for all turns, however long they take.
    turn: { debounceMs: 0, leaseMs: 2_000, graceMs: 600_000, maxConcurrent: 8, attemptsMax: 20 },
    gateway: { requestsPerMinute: 100_000, tokens: [{ name: "all", token, rights: ["read", "write", "admin"] }] },
    // Sections of the settings that a test sets itself.
    ...(JSON.parse(sections) as ConfigInput),
  },
});
const gateway = await startGateway(varve, { port: 0 });
writeSync(1, `${gateway.port}\n`);
process.on("SIGTERM", () => {
  void gateway
    .close()
    .then(() => varve.close())
    .then(() => process.exit(0));
});
