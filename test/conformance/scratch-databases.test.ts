import { Client } from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { databaseKinds, scratchDatabase, scratchDatabases } from "../support/databases.ts";

describe("the databases that tests run on", () => {
  const databases = scratchDatabases();
  afterAll(async () => {
    for (const database of await databases) await database.drop();
  });

  test("are one of each kind", async () => {
    expect((await databases).map(({ name }) => name)).toEqual(databaseKinds);
  });

  test.runIf(databaseKinds.includes("postgres"))("have vectors on PostgreSQL", async () => {
    const url = (await databases).find(({ name }) => name === "postgres")?.database;
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      await client.query("create extension if not exists vector");
      const { rows } = await client.query("select '[1,2]'::vector <-> '[1,5]'::vector as distance");
      expect(rows).toEqual([{ distance: 3 }]);
    } finally {
      await client.end();
    }
  });

  test.runIf(databaseKinds.includes("postgres"))("can be dropped while somebody is connected", async () => {
    const { database, drop } = await scratchDatabase("postgres");
    const client = new Client({ connectionString: database });
    // The client reports its loss more than once.
    const lost = new Promise((resolve) => client.on("error", resolve));
    await client.connect();
    await drop();
    await lost;
    await expect(new Client({ connectionString: database }).connect()).rejects.toThrow(/does not exist/);
  });
});
