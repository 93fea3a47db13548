import { Client } from "pg";
import { expect, test } from "vitest";
import { coordinatorTables, distributedTables, tenantColumn } from "../../src/store/postgres/distribution.ts";
import { onEveryEngine } from "../support/engines.ts";

const isDistributed = Boolean(process.env.VARVE_TEST_CITUS_WORKERS);

onEveryEngine("distribution", (get) => {
  test("is refused where there is no cluster, with what to do, and is done once where there is one", async () => {
    const { varve, kind } = get();
    if (kind === "postgres" && isDistributed) {
      expect(await varve.distributeDatabase()).toEqual({ distributed: [], already: [...distributedTables] });
      return;
    }
    await expect(varve.distributeDatabase()).rejects.toMatchObject({
      code: "REFUSED",
      remedy: expect.stringContaining(kind === "sqlite" ? "--database postgres://" : "create extension citus"),
    });
  });

  test("has a place for every table: on the workers by its tenant, or on the coordinator", async () => {
    const { database, kind } = get();
    if (kind !== "postgres") return;
    const client = new Client({ connectionString: database });
    await client.connect();
    try {
      const { rows } = await client.query<{ name: string; columns: string[] }>(
        `select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
         where table_schema = 'public' and table_name in (
           select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE')
         group by table_name order by table_name`,
      );
      const known = [...distributedTables, ...coordinatorTables].toSorted();
      expect(rows.map(({ name }) => name)).toEqual(known);
      for (const { name, columns } of rows) {
        if (distributedTables.some((table) => table === name)) expect(columns).toContain(tenantColumn);
      }
    } finally {
      await client.end();
    }
  });
});
