/** Row-level security: the database itself lets a statement see only the tenant that the transaction names. */
import { sql } from "kysely";
import { type Access, getAccess } from "../../authorization/index.ts";
import type { Db, Tx } from "../schema.ts";

/** Tables without text of conversations, which every role may read. */
export const openTables: ReadonlySet<string> = new Set([
  "meta",
  "leases",
  "counters",
  "model_states",
  "model_days",
  "token_ratios",
  "vector_spaces",
]);

/** Tables that no request reads for itself, although they name agents. */
const engineTables: ReadonlySet<string> = new Set(["tokens"]);

export const policyName = "varve_tenant";

/** Stands for every agent or scope. */
const everything = "*";

/** The expressions that name the tenant, for the start of a transaction. */
export function nameTenant(access: Access = getAccess()): { text: string; values: string[] } {
  return {
    text: "set_config('varve.agent', $1, true), set_config('varve.scopes', $2, true)",
    values: [access.agents?.join(",") ?? everything, access.scopes?.join("\n") ?? everything],
  };
}

const agentIsSeen = `(select current_setting('varve.agent', true)) = '${everything}'
  or agent = any (string_to_array((select current_setting('varve.agent', true)), ','))`;
const scopeIsSeen = `(select current_setting('varve.scopes', true)) = '${everything}'
  or scope = any (string_to_array((select current_setting('varve.scopes', true)), e'\\n'))`;
/** Rows that belong to a memory are seen with it. */
const memoryIsSeen = (column: string) => `(select current_setting('varve.scopes', true)) = '${everything}'
  or exists (select 1 from memories m where m.id = ${column})`;
const isEngine = `(select current_setting('varve.agent', true)) = '${everything}'`;

interface TableColumns {
  name: string;
  columns: string[];
}

async function listTables(db: Db | Tx): Promise<TableColumns[]> {
  const { rows } = await sql<TableColumns>`
    select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
    where table_schema = current_schema() and table_name in (
      select table_name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE')
    group by table_name order by table_name`.execute(db);
  return rows;
}

/** The condition under which a row of a table is seen; tables of no tenant are for the engine alone. */
function chooseCondition({ name, columns }: TableColumns): string | undefined {
  if (openTables.has(name)) return undefined;
  if (engineTables.has(name)) return isEngine;
  if (columns.includes("scope")) return scopeIsSeen;
  if (columns.includes("memory")) return memoryIsSeen(`${name}.memory`);
  if (columns.includes("agent")) return agentIsSeen;
  return isEngine;
}

/**
 * Turns row-level security on for every table, or for the given ones. The owner of the tables is not bound by it; a role of
 * its own is.
 */
export async function protectTables(tx: Tx, only?: readonly string[]): Promise<void> {
  for (const table of await listTables(tx)) {
    if (only && !only.includes(table.name)) continue;
    const condition = chooseCondition(table);
    if (condition === undefined) continue;
    const name = sql.table(table.name);
    await sql`alter table ${name} enable row level security`.execute(tx);
    const policy = sql.id(policyName);
    await sql`drop policy if exists ${policy} on ${name}`.execute(tx);
    const allowed = sql.raw(condition);
    await sql`create policy ${policy} on ${name} using (${allowed}) with check (${allowed})`.execute(tx);
  }
}

/** Whether the role of the connection is bound by the policies. */
export async function isBoundByPolicies(db: Db | Tx): Promise<boolean> {
  const { rows } = await sql<{ active: boolean }>`select row_security_active('entries') as active`.execute(db);
  return rows[0]?.active ?? false;
}

/** The statements that let a role work with the tables, and with nothing else. The owner of the tables runs them. */
export function listRoleGrants(role: string): string[] {
  const name = `"${role.replaceAll('"', '""')}"`;
  return [
    `grant usage on schema public to ${name}`,
    `grant select, insert, update, delete on all tables in schema public to ${name}`,
    `grant usage, select, update on all sequences in schema public to ${name}`,
    `alter default privileges in schema public grant select, insert, update, delete on tables to ${name}`,
    `alter default privileges in schema public grant usage, select, update on sequences to ${name}`,
  ];
}

/** Reasons why the policies do not protect the data; empty when they do. */
export async function findPolicyFaults(db: Db | Tx): Promise<string[]> {
  const { rows: roles } = await sql<{ name: string; super: boolean; bypass: boolean }>`
    select rolname as name, rolsuper as super, rolbypassrls as bypass from pg_roles where rolname = current_user`.execute(
    db,
  );
  const [role] = roles;
  const { rows: tables } = await sql<{ name: string; on: boolean; policies: number; owned: boolean }>`
    select c.relname as name, c.relrowsecurity as on, pg_get_userbyid(c.relowner) = current_user as owned,
      (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies
    from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')`.execute(db);
  const bare = tables.filter((table) => !openTables.has(table.name) && (!table.on || table.policies === 0));
  return [
    ...(role?.super ? [`the role ${role.name} is a superuser`] : []),
    ...(role?.bypass ? [`the role ${role.name} bypasses row-level security`] : []),
    ...(tables.some((table) => table.owned) ? [`the role ${role?.name} owns the tables`] : []),
    ...bare.map((table) => `the table ${table.name} has no policy`),
  ];
}
