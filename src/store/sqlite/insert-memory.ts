import type { NewMemoryRows } from "../port.ts";
import type { Statements } from "./statements.ts";

/** The rows of a new memory. Inside a transaction, in the thread that writes. */
export function insertMemory(statements: Statements, memory: NewMemoryRows): void {
  const { row, sources, support, words, vector } = memory;
  const counted = statements.get("update counters set value = value + 1 where name = 'memory_number' returning value");
  const num = (counted as { value: number }).value;
  insert(statements, "memories", { ...row, num });
  for (const source of sources) insert(statements, "memory_sources", source);
  for (const one of support) insert(statements, "memory_support", one);
  statements.run("insert or replace into memory_text (rowid, words) values (?, ?)", num, words);
  if (vector) insert(statements, "memory_vectors", { scope: row.scope, num, memory: row.id, ...vector });
}

function insert(statements: Statements, table: string, row: object): void {
  const columns = Object.keys(row);
  const places = columns.map(() => "?").join(", ");
  statements.run(`insert into ${table} (${columns.join(", ")}) values (${places})`, ...Object.values(row));
}
