import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isScope } from "../../authorization/index.ts";
import { isJsonObject, type JsonObject, VarveError } from "../../domain/index.ts";
import { type Category, categoryNames, type Tier, tiers, toMemoryRows } from "../../memory/index.ts";
import type { Store } from "../../store/index.ts";

/** A memory as memory-lancedb-pro exports it; its table has the same fields and a vector. */
interface ExportedMemory {
  id: string;
  text: string;
  category: string;
  scope: string;
  importance: number;
  timestamp: number;
  metadata: JsonObject;
}

export interface ImportedMemories {
  imported: number;
  duplicates: number;
  /** Records that are not memories, with the reason. */
  broken: { record: number; reason: string }[];
}

const packageName = "@lancedb/lancedb";
const tableName = "memories";

/** The part of the package that is used. */
export interface LanceModule {
  connect(path: string): Promise<{ openTable(name: string): Promise<{ query(): { toArray(): Promise<unknown[]> } }> }>;
}

/** Whether a path is a folder of LanceDB with a table of memories, or a JSON export. */
export function isMemoryExport(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) return existsSync(join(path, `${tableName}.lance`));
  if (!stat?.isFile() || !/\.json$/i.test(path)) return false;
  const head = readFileSync(path, "utf8").slice(0, 4_096);
  return /^\s*\{/.test(head) && /"memories"\s*:\s*\[/.test(head) && /"exportedAt"|"version"/.test(head);
}

/** Imports the memories of memory-lancedb-pro with their times, scopes, tiers and versions. Twice changes nothing. */
export async function importMemories(
  store: Store,
  agent: string,
  path: string,
  { dryRun = false, load = loadLance }: { dryRun?: boolean; load?: () => Promise<LanceModule> } = {},
): Promise<ImportedMemories> {
  const isFolder = statSync(path).isDirectory();
  const records = isFolder ? await readTable(path, load) : readExport(path);
  const result: ImportedMemories = { imported: 0, duplicates: 0, broken: [] };
  const memories: ExportedMemory[] = [];
  for (const [index, value] of records.entries()) {
    const memory = parseMemory(value);
    if (typeof memory === "string") result.broken.push({ record: index + 1, reason: memory });
    else memories.push(memory);
  }
  const byId = new Map(memories.map((memory) => [memory.id, memory]));
  for (const memory of memories) {
    const row = createRow(memory, agent, byId);
    const known = await store.db.selectFrom("memories").select("id").where("id", "=", row.id).executeTakeFirst();
    if (known) result.duplicates += 1;
    else result.imported += 1;
    if (known || dryRun) continue;
    const draft = {
      ...{ category: row.category, abstract: row.abstract, overview: row.overview, content: row.content },
      ...{ importance: row.importance, confidence: row.confidence, temporalType: row.temporal_type },
      ...{ validFrom: row.valid_from, trust: "owner" as const, extractor: row.extractor, fiction: false },
      ...{ label: "general" as const, sources: [] },
    };
    const rows = toMemoryRows(draft, { agent, scope: row.scope }, store);
    const support = rows.support.map((one) => ({ ...one, memory: row.id }));
    await store.insertMemory({ ...rows, row: { ...rows.row, ...row }, support });
  }
  return result;
}

function createRow(memory: ExportedMemory, agent: string, byId: ReadonlyMap<string, ExportedMemory>) {
  const { metadata: meta, text, timestamp } = memory;
  const invalidatedAt = readTime(meta.invalidated_at);
  const chain = listVersions(memory, byId);
  const supersededBy = readString(meta.superseded_by);
  return {
    id: toMemoryId(memory.id),
    root: toMemoryId(chain[0] ?? memory.id),
    version: Math.max(1, chain.length),
    scope: isScope(memory.scope) ? memory.scope : toCustomScope(memory.scope, agent),
    agent,
    category: toCategory(readString(meta.memory_category) ?? memory.category),
    abstract: readString(meta.l0_abstract) ?? text,
    overview: readString(meta.l1_overview) ?? text,
    content: readString(meta.l2_content) ?? text,
    importance: Math.min(1, Math.max(0, memory.importance)),
    confidence: typeof meta.confidence === "number" ? Math.min(1, Math.max(0, meta.confidence)) : 0.8,
    tier: tiers.find((tier) => tier === meta.tier) ?? ("working" satisfies Tier),
    temporal_type: meta.memory_temporal_type === "dynamic" ? ("dynamic" as const) : ("static" as const),
    created_at: timestamp,
    last_accessed_at: readTime(meta.last_accessed_at) ?? null,
    access_count: typeof meta.access_count === "number" ? Math.max(0, Math.trunc(meta.access_count)) : 0,
    valid_from: readTime(meta.valid_from) ?? timestamp,
    invalidated_at: invalidatedAt ?? null,
    expires_at: readTime(meta.valid_until) ?? null,
    forgotten_at: meta.state === "archived" && invalidatedAt === undefined ? timestamp : null,
    supersedes: chain.length > 1 ? toMemoryId(chain.at(-2) ?? "") : null,
    superseded_by: supersededBy !== undefined && byId.has(supersededBy) ? toMemoryId(supersededBy) : null,
    fact_key: readString(meta.fact_key) ?? null,
    extractor: "memory-lancedb-pro",
  };
}

/** The ids of a memory's versions, the oldest first and its own last. */
function listVersions(memory: ExportedMemory, byId: ReadonlyMap<string, ExportedMemory>): string[] {
  const chain = [memory.id];
  for (let at = readString(memory.metadata.supersedes); at !== undefined && byId.has(at) && !chain.includes(at); ) {
    chain.unshift(at);
    at = readString(byId.get(at)?.metadata.supersedes);
  }
  return chain;
}

/** The same memory always gets the same id, so that another import finds it. */
function toMemoryId(id: string): string {
  return `mem_${createHash("sha256").update(`memory-lancedb-pro ${id}`).digest("hex").slice(0, 26)}`;
}

function toCustomScope(scope: string, agent: string): string {
  const name = scope.replace(/\s+/g, "-").slice(0, 200);
  return name === "" ? `agent:${agent}` : `custom:${name}`;
}

const olderCategories: Readonly<Record<string, Category>> = {
  preference: "preferences",
  fact: "entities",
  entity: "entities",
  decision: "events",
  reflection: "patterns",
};

function toCategory(name: string): Category {
  return categoryNames.find((known) => known === name) ?? olderCategories[name] ?? "events";
}

/** A memory, or what is wrong with the record. */
function parseMemory(value: unknown): ExportedMemory | string {
  if (!isJsonObject(value)) return "it is not an object";
  const { id, text, category, scope, importance, timestamp, metadata } = value;
  if (typeof id !== "string" || id === "") return "it has no id";
  if (typeof text !== "string" || text.trim() === "") return "it has no text";
  const time = Number(timestamp);
  return {
    id,
    text,
    category: typeof category === "string" ? category : "other",
    scope: typeof scope === "string" ? scope : "global",
    importance: typeof importance === "number" ? importance : 0.7,
    timestamp: Number.isFinite(time) && time > 0 ? Math.trunc(time) : 0,
    metadata: parseMetadata(metadata),
  };
}

function parseMetadata(metadata: unknown): JsonObject {
  if (isJsonObject(metadata)) return metadata;
  if (typeof metadata !== "string" || metadata === "") return {};
  try {
    const value: unknown = JSON.parse(metadata);
    return isJsonObject(value) ? value : {};
  } catch {
    // The oldest versions wrote plain text here; the memory itself does not depend on it.
    return {};
  }
}

function readExport(path: string): unknown[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isJsonObject(value) && Array.isArray(value.memories)) return value.memories;
  } catch (error) {
    throw badExport(path, error);
  }
  throw badExport(path);
}

function badExport(path: string, cause?: unknown): VarveError {
  return new VarveError("BAD_FILE", `${path} is not an export of memory-lancedb-pro.`, {
    remedy: "Write one with `openclaw memory-pro export --output FILE`.",
    cause,
  });
}

async function readTable(path: string, load: () => Promise<LanceModule>): Promise<unknown[]> {
  const lance = await load();
  const table = await (await lance.connect(path)).openTable(tableName);
  const rows = await table.query().toArray();
  // A row has getters on its prototype; timestamps may be big integers.
  return rows.map((row) => {
    const { id, text, category, scope, importance, timestamp, metadata } = row as Record<string, unknown>;
    return { id, text, category, scope, importance, timestamp: Number(timestamp), metadata };
  });
}

/** Loads the package from next to Varve, or from the current folder. */
async function loadLance(): Promise<LanceModule> {
  for (const from of [import.meta.url, pathToFileURL(join(process.cwd(), "package.json")).href]) {
    try {
      const file = createRequire(from).resolve(packageName);
      return (await import(pathToFileURL(file).href)) as LanceModule;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code !== "MODULE_NOT_FOUND" && code !== "ERR_MODULE_NOT_FOUND") throw error;
    }
  }
  throw new VarveError("MISSING_PACKAGE", `The package ${packageName} is required to read a folder of LanceDB.`, {
    remedy: `Run \`npm install ${packageName}\` in the current folder, or import the JSON that \`openclaw memory-pro export --output FILE\` writes.`,
  });
}

function readString(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readTime(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.trunc(value) : undefined;
}
