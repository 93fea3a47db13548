import { expect, test } from "vitest";
import { adviseServer, type ServerFacts } from "./server-advice.ts";

const table = { name: "entries", liveRows: 1_000_000, deadRows: 0, insertedRows: 0, isAnalyzed: true, age: 1_000 };
const good: ServerFacts = {
  settings: {
    ...{ autovacuum: "on", fsync: "on", full_page_writes: "on", synchronous_commit: "on" },
    ...{ idle_in_transaction_session_timeout: "60000", client_connection_check_interval: "10000" },
  },
  extensions: { btree_gin: "1.3", vector: "0.8.0" },
  connections: { used: 20, max: 100 },
  standbys: [{ name: "b", state: "streaming", sync: "sync", lagBytes: 0 }],
  idleSlots: [],
  tables: [table],
  pooler: "none",
  poolSize: 10,
};

test("a server that is set up well gets no advice", () => {
  expect(adviseServer(good)).toEqual([]);
});

test.each<[string, Partial<ServerFacts>, RegExp]>([
  ["no fsync", { settings: { ...good.settings, fsync: "off" } }, /^fsync is off/],
  [
    "no durable commits",
    { settings: { ...good.settings, synchronous_commit: "local" } },
    /synchronous_commit is local/,
  ],
  ["no standby", { standbys: [] }, /no standby is connected/],
  ["no synchronous standby", { standbys: [{ name: "b", state: "streaming", sync: "async" }] }, /no standby is synch/],
  ["a role that sees nothing", { standbys: [{ name: "b", state: "unknown", sync: "unknown" }] }, /grant pg_monitor/],
  ["an unused slot", { idleSlots: ["old_standby"] }, /slots old_standby are not in use/],
  ["no autovacuum", { settings: { ...good.settings, autovacuum: "off" } }, /autovacuum is off/],
  ["dead rows", { tables: [{ ...table, deadRows: 400_000 }] }, /entries have many dead rows/],
  ["unmerged words", { tables: [{ ...table, name: "entry_text", insertedRows: 70_000 }] }, /new words of entry_text/],
  ["no statistics", { tables: [{ ...table, isAnalyzed: false }] }, /entries have no statistics/],
  ["old rows", { tables: [{ ...table, age: 1_500_000_000 }] }, /must be vacuumed before/],
  ["few connections", { connections: { used: 95, max: 100 } }, /95 of 100 connections are in use/],
  [
    "idle transactions",
    { settings: { ...good.settings, idle_in_transaction_session_timeout: "0" } },
    /idle_in_transaction_session_timeout is 0/,
  ],
  [
    "statements of nobody",
    { settings: { ...good.settings, client_connection_check_interval: "0" } },
    /client_connection_check_interval is 0/,
  ],
  ["a pooler", { pooler: "transaction" }, /a pooler in transaction mode/],
  ["no btree_gin", { extensions: {} }, /btree_gin is not installed/],
])("%s is told, and nothing else", (_, change, line) => {
  expect(adviseServer({ ...good, ...change })).toEqual([expect.stringMatching(line)]);
});
