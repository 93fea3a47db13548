/** A process that serves agents one after another, so that its memory is measured alone. */
import { openVarve } from "../../index.ts";
import { createQueries } from "../conversation.ts";
import { percentile, readMemory, timed } from "../result.ts";
import { SyntheticEmbedder } from "../synthetic-embedder.ts";

export interface ServeTask {
  home: string;
  database?: string;
  agents: readonly string[];
  /** The session key of an agent ends with this. */
  session: string;
  searchesEach: number;
}

export interface ServeReport {
  /** The memory, without mapped files, after half of the agents, and after all. */
  memoryHalfMb: number;
  memoryMb: number;
  p50: number;
  p95: number;
}

const { home, database, agents, session, searchesEach } = JSON.parse(process.argv[2] ?? "{}") as ServeTask;
const varve = await openVarve({
  home,
  background: false,
  models: { embedder: new SyntheticEmbedder() },
  ...(database === undefined ? {} : { database }),
});
const readMb = () => Math.round(readMemory() / 1e6);
const queries = createQueries(200);
const took: number[] = [];
let memoryHalfMb = 0;
for (const [index, agent] of agents.entries()) {
  const current = await varve.sessions.resolve({ key: `agent:${agent}:${session}` });
  const content = `A new message for agent ${agent}.`;
  await varve.context.ingest(current, [{ id: `served-${process.pid}`, role: "user", content }]);
  await varve.context.assemble(current, { budgetTokens: 8_000 });
  for (let round = 0; round < searchesEach; round += 1) {
    const query = queries[(index + round) % queries.length] ?? "";
    took.push(await timed(() => varve.search.find(query, { agent, limit: 10 })));
  }
  if (index === Math.floor((agents.length - 1) / 2)) memoryHalfMb = readMb();
}
const report: ServeReport = {
  memoryHalfMb,
  memoryMb: readMb(),
  p50: percentile(took, 0.5),
  p95: percentile(took, 0.95),
};
await varve.close();
process.stdout.write(JSON.stringify(report));
