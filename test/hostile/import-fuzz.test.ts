/** Every importer with changed files: imported, quarantined or refused with a clear error; what is stored stays as it was. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Varve, VarveError } from "../../src/index.ts";
import { openStore } from "../../src/store/index.ts";
import { type EngineUnderTest, onEveryEngine, seededRandom } from "../support/engines.ts";
import { writeLcmDatabase } from "../support/lcm-database.ts";
import { isLongRun } from "../support/long-run.ts";
import { FakeAgentStore, header, message } from "../support/openclaw-home.ts";
import { type Rng, rngOf, seedOfRun } from "../support/rng.ts";
import { hostileText, mutateBytes, mutateJson } from "./hostile-values.ts";
import { importSamples } from "./import-samples.ts";

const seed = seedOfRun();
const filesPerSample = isLongRun ? 400 : 12;

/** Changes a value in one record, whole records, or bytes. */
function mutateText(rng: Rng, text: string): Buffer {
  const isWhole = text.startsWith("[") || !text.endsWith("\n");
  if (isWhole && rng.int(0, 1) === 0) return Buffer.from(JSON.stringify(mutateJson(rng, JSON.parse(text))) ?? "");
  if (isWhole) return mutateBytes(rng, Buffer.from(text));
  const records = text.trimEnd().split("\n");
  const at = rng.int(0, records.length - 1);
  const record = records[at] ?? "";
  switch (rng.int(0, 5)) {
    case 0:
      return mutateBytes(rng, Buffer.from(text));
    case 1:
      return Buffer.from(records.toSpliced(at, 1).join("\n"));
    case 2:
      return Buffer.from(`${records.toSpliced(at, 0, record).toReversed().join("\n")}\n`);
    case 3:
      return Buffer.from(`${records.toSpliced(at, 0, hostileText(rng)).join("\n")}\n`);
    default:
      return Buffer.from(`${records.with(at, JSON.stringify(mutateJson(rng, JSON.parse(record)))).join("\n")}\n`);
  }
}

/** Every entry that is stored, on any branch, by its sequence number. */
async function readStored({ database, clock }: EngineUnderTest): Promise<Map<number, string>> {
  const store = await openStore({ database, clock, random: seededRandom(3) });
  try {
    const rows = await store.db.selectFrom("entries").selectAll().execute();
    return new Map(rows.map((row) => [row.seq, JSON.stringify(row)]));
  } finally {
    await store.close();
  }
}

/** Imports; an error must be one that a person can act on. */
async function tryImport(varve: Varve, path: string, what: string): Promise<void> {
  try {
    await varve.import([path]);
  } catch (error) {
    expect(error, what).toBeInstanceOf(VarveError);
    expect((error as VarveError).code, `${what}: ${(error as VarveError).message}`).not.toBe("INTERNAL");
  }
}

onEveryEngine("files with a NUL", (get) => {
  test.each([
    ["Codex", '"cwd":"/app"', '"cwd":"/a\\u0000pp"'],
    ["Claude Code", '"The valve"', '"The\\u0000valve"'],
    ["ChatGPT", '"title":"Valves"', '"title":"Va\\u0000lves"'],
    ["Claude.ai", '"name":"Valves"', '"name":"Va\\u0000lves"'],
  ])("%s: %s is imported with another character in its place", async (name, old, changed) => {
    const { varve, home } = get();
    const sample = importSamples.find((one) => one.name === name);
    const folder = join(home, "nul", name);
    mkdirSync(folder, { recursive: true });
    const path = join(folder, sample?.file ?? "");
    writeFileSync(path, (sample?.text ?? "").replace(old, changed));
    expect(await varve.import([path])).toMatchObject({ quarantined: 0 });
  });

  test("a title with a NUL is refused or stored", async () => {
    const { varve } = get();
    const session = await varve.sessions.resolve({ key: "agent:main:nul" });
    const changed = varve.sessions.update(session, { displayName: "a\0b" });
    const { displayName } = await changed.catch((error: VarveError) => ({ displayName: error.code }));
    expect(["a\0b", "BAD_REQUEST"]).toContain(displayName);
  });
});

onEveryEngine(`changed files (VARVE_TEST_SEED=${seed})`, (get) => {
  const folder = (name: string) => {
    const path = join(get().home, "hostile", name);
    mkdirSync(path, { recursive: true });
    return path;
  };

  async function importChanged(
    name: string,
    write: (rng: Rng, folder: string, count: number) => string,
  ): Promise<void> {
    const { varve } = get();
    const rng = rngOf(seed, name);
    const before = await readStored(get());
    for (let count = 0; count < filesPerSample; count += 1) {
      const path = write(rng, folder(`${name}/${count}`), count);
      await tryImport(varve, path, `seed ${seed}: ${name} ${count}`);
    }
    const after = await readStored(get());
    for (const [seq, text] of before) expect(after.get(seq), `seed ${seed}: ${name}: msg#${seq}`).toBe(text);
  }

  test.each(importSamples)("$name: in files of their own", async ({ name, file, text }) => {
    const { varve } = get();
    const good = join(folder(`${name}/good`), file);
    writeFileSync(good, text);
    const { imported, memories } = await varve.import([good]);
    expect(imported + memories, name).toBeGreaterThan(0);
    await importChanged(name, (rng, place) => {
      const path = join(place, file);
      writeFileSync(path, mutateText(rng, text));
      return path;
    });
  });

  test("a database of lossless-claw with changed bytes", async () => {
    const good = join(folder("lcm"), "lcm.db");
    const messages = Array.from({ length: 16 }, (_, index) => ({
      role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: `The bed number ${index} has roses.`,
    }));
    writeLcmDatabase(good, { sessionId: "lcm-1", key: "agent:main:telegram:direct:42", messages });
    await importChanged("lossless-claw", (rng, place) => {
      const path = join(place, "lcm.db");
      writeFileSync(path, changeDatabase(rng, readFileSync(good)));
      return path;
    });
  });

  test("a home of OpenClaw with changed bytes", async () => {
    const good = folder("openclaw-good");
    const agent = new FakeAgentStore(good, "main");
    const time = Date.UTC(2026, 0, 2);
    const sessionId = "5e551071-0000-4000-8000-000000000009";
    agent.add({
      key: "agent:main:telegram:direct:7",
      sessionId,
      createdAt: time,
      events: [header(sessionId, time), message("a", null, "user", "The valve is blue.", time)],
    });
    agent.close();
    const name = "openclaw-agent.sqlite";
    await importChanged("openclaw", (rng, place) => {
      mkdirSync(join(place, "agents", "main", "agent"), { recursive: true });
      const copy = join(place, "agents", "main", "agent", name);
      copyFileSync(join(good, "agents", "main", "agent", name), copy);
      writeFileSync(copy, changeDatabase(rng, readFileSync(copy)));
      return place;
    });
  });

  test("the store is whole, and its quarantine says why", async () => {
    const { findings } = await get().varve.doctor();
    // Quarantined records are listed, each with its file, its line and its reason.
    const faults = findings.flatMap((finding) => finding.faults);
    expect(
      faults.filter((fault) => !/hostile\/.*:\d+: .{5}/.test(fault)),
      `seed ${seed}`,
    ).toEqual([]);
  });
});

/** Changes some bytes of a database file in place, or cuts it off. */
function changeDatabase(rng: Rng, bytes: Buffer): Buffer {
  if (rng.int(0, 4) === 0) return bytes.subarray(0, rng.int(0, bytes.length - 1));
  const times = rng.int(1, 40);
  for (let time = 0; time < times; time += 1) bytes[rng.int(0, bytes.length - 1)] = rng.int(0, 255);
  return bytes;
}
