import { beforeAll, expect, test } from "vitest";
import { findTenantFaults, loadParser } from "./statement-tenants.ts";

const layout = { tables: new Set(["entries", "conversations"]), tenant: "agent" };
const check = (text: string) => findTenantFaults(text, layout);
beforeAll(loadParser);

test.each([
  ["a parameter", "select * from entries where agent = $1 and seq > $2"],
  ["a constant", "delete from entries where 'main' = agent"],
  ["a cast parameter", "update entries e set kind = $1 where e.agent = $2::text"],
  ["a join on the tenant", "select 1 from entries e join conversations c on c.agent = e.agent where e.agent = $1"],
  [
    "a correlated sub-query",
    "select (select 1 from entries e where e.agent = c.agent) from conversations c where c.agent = $1",
  ],
  ["rows compared as a whole", "select 1 from entries where (agent, seq) = ($1, $2)"],
  ["a table that is not distributed", "select * from jobs order by run_at"],
  [
    "an insert with its tenant",
    "insert into entries (agent, seq) values ($1, $2) on conflict (agent, seq) do update set kind = $3",
  ],
  ["an insert from a query", "insert into entries (agent, seq) select agent, id from conversations where agent = $1"],
  [
    "both sides of a union",
    "select 1 from entries where agent = $1 union all select 2 from conversations where agent = $1",
  ],
  ["a common table expression", "with c as (select id from conversations where agent = $1) select * from c"],
])("accepts %s", (_, text) => {
  expect(check(text)).toEqual([]);
});

test.each([
  ["no tenant", "select * from entries where seq = any($1)", "a read of entries does not name its tenant"],
  ["several tenants", "delete from entries where agent = any($1)", "a deletion from entries does not name its tenant"],
  ["one of two", "select 1 from entries where agent = $1 or seq = $2", "a read of entries does not name its tenant"],
  [
    "a join across tenants",
    "select 1 from entries e join conversations c on c.id = e.conversation where e.agent = $1",
    "a read of conversations does not name its tenant",
  ],
  [
    "an update without it",
    "update entries set kind = $1 where seq = $2",
    "an update of entries does not name its tenant",
  ],
  [
    "a sub-query",
    "select 1 from jobs where id in (select id from entries)",
    "a read of entries does not name its tenant",
  ],
  [
    "one side of a union",
    "select 1 from entries where agent = $1 union select 2 from entries",
    "a read of entries does not name its tenant",
  ],
  [
    "a lateral join that takes it from an outer row",
    "select 1 from conversations c, lateral (select 1 from entries e where e.agent = c.agent) n where c.agent = $1",
    "a read of entries does not name its tenant",
  ],
  ["an insert without it", "insert into entries (seq) values ($1)", "an insert into entries does not name its tenant"],
  [
    "a tenant that is changed",
    "insert into entries (agent) values ($1) on conflict (agent) do update set agent = $1",
    "an insert into entries changes the tenant on conflict",
  ],
  [
    "a lock in a common table expression",
    "with one as (select seq from entries where agent = $1 for update skip locked) select * from one",
    "a common table expression locks rows of entries",
  ],
])("refuses %s", (_, text, fault) => {
  expect(check(text)).toEqual([fault]);
});
