/**
 * What keeps a statement from running on one worker of a distributed database: a table whose tenant it does not name, a
 * join across tenants, a key that is changed on conflict, a lock inside of a common table expression.
 */
import { loadModule, parseSync } from "libpg-query";

export interface TenantLayout {
  /** The tables that are distributed. */
  tables: ReadonlySet<string>;
  /** The column that names the tenant. */
  tenant: string;
}

/** A node of the parse tree of libpg_query: one key that names its kind, or plain fields. */
type Node = { [key: string]: unknown };

interface Table {
  name: string;
  alias: string;
}

/** The tables that a level of a query and the levels around it can refer to. */
interface Level {
  tables: Table[];
  /** The aliases of those whose tenant is named. */
  named: Set<string>;
  outer: Level | undefined;
  /** In a lateral sub-query the tenant must not come from a row of another table. */
  isLateral: boolean;
}

export async function loadParser(): Promise<void> {
  await loadModule();
}

/** The faults of a statement, each a sentence; empty when it runs on one worker. `loadParser` must have been called. */
export function findTenantFaults(text: string, layout: TenantLayout): string[] {
  const { stmts = [] } = parseSync(text) as { stmts?: { stmt: Node }[] };
  const faults = new Set<string>();
  for (const { stmt } of stmts) checkStatement(stmt, layout, undefined, false, faults);
  return [...faults];
}

function checkStatement(
  node: Node,
  layout: TenantLayout,
  outer: Level | undefined,
  isLateral: boolean,
  faults: Set<string>,
): void {
  const [kind, value] = Object.entries(node)[0] as [string, Node];
  const body = value ?? {};
  if (!["SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt"].includes(kind)) return;
  const level: Level = { tables: [], named: new Set(), outer, isLateral };
  const conditions: Node[] = [];
  const relation = body.relation as Node | undefined;
  if (relation && kind !== "InsertStmt") addTable(level, relation);
  for (const item of asList(body.fromClause ?? body.usingClause)) {
    addFromItem(item, level, conditions, layout, faults);
  }
  if (body.whereClause) conditions.push(body.whereClause as Node);
  nameTenants(level, conditions, layout);
  for (const table of level.tables) {
    if (layout.tables.has(table.name) && !level.named.has(table.alias)) {
      faults.add(`${kindWords[kind]} ${table.name} does not name its tenant`);
    }
  }
  if (kind === "InsertStmt") checkInsert(body, layout, faults);
  if (kind === "SelectStmt") {
    for (const side of ["larg", "rarg"]) {
      if (body[side]) checkStatement({ SelectStmt: body[side] }, layout, outer, isLateral, faults);
    }
  }
  const { ctes = [] } = (body.withClause as { ctes?: Node[] }) ?? {};
  for (const { CommonTableExpr } of ctes) {
    const query = (CommonTableExpr as Node).ctequery as Node;
    if (asList((query.SelectStmt as Node | undefined)?.lockingClause).length > 0) {
      const locked = collectTables(query).filter((name) => layout.tables.has(name));
      if (locked.length > 0) faults.add(`a common table expression locks rows of ${locked.join(", ")}`);
    }
    checkStatement(query, layout, outer, isLateral, faults);
  }
  // Sub-queries in conditions, in the selected columns and in the source of an insert.
  const { withClause: _with, fromClause: _from, usingClause: _using, larg: _left, rarg: _right, ...rest } = body;
  for (const found of findSubqueries(rest)) checkStatement(found, layout, level, false, faults);
}

const kindWords: Readonly<Record<string, string>> = {
  SelectStmt: "a read of",
  UpdateStmt: "an update of",
  DeleteStmt: "a deletion from",
  InsertStmt: "an insert into",
};

function checkInsert(body: Node, layout: TenantLayout, faults: Set<string>): void {
  const name = String((body.relation as Node).relname);
  if (!layout.tables.has(name)) return;
  const columns = asList(body.cols).map((column) => String((column.ResTarget as Node).name));
  if (columns.length > 0 && !columns.includes(layout.tenant))
    faults.add(`an insert into ${name} does not name its tenant`);
  const conflict = body.onConflictClause as Node | undefined;
  const changed = asList(conflict?.targetList).map((target) => String((target.ResTarget as Node).name));
  if (changed.includes(layout.tenant)) faults.add(`an insert into ${name} changes the tenant on conflict`);
}

function addTable(level: Level, range: Node): void {
  const name = String(range.relname);
  level.tables.push({ name, alias: String((range.alias as Node | undefined)?.aliasname ?? name) });
}

function addFromItem(item: Node, level: Level, conditions: Node[], layout: TenantLayout, faults: Set<string>): void {
  if (item.RangeVar) addTable(level, item.RangeVar as Node);
  if (item.JoinExpr) {
    const join = item.JoinExpr as Node;
    for (const side of ["larg", "rarg"]) {
      addFromItem(join[side] as Node, level, conditions, layout, faults);
    }
    if (join.quals) conditions.push(join.quals as Node);
  }
  if (item.RangeSubselect) {
    const { subquery, lateral } = item.RangeSubselect as { subquery: Node; lateral?: boolean };
    checkStatement(subquery, layout, lateral ? level : level.outer, lateral ?? false, faults);
  }
}

/** Follows the equalities of the conditions that must all hold, until no further table is named by them. */
function nameTenants(level: Level, conditions: readonly Node[], layout: TenantLayout): void {
  const equal = conditions.flatMap((one) => listEqualities(one));
  for (let before = -1; before !== level.named.size; ) {
    before = level.named.size;
    for (const [left, right] of equal) {
      for (const [column, other] of [
        [left, right],
        [right, left],
      ] as const) {
        const alias = findTenantAlias(column, level, layout);
        if (alias !== undefined && namesTenant(other, level, layout)) level.named.add(alias);
      }
    }
  }
}

/** Whether a value is that of one tenant: a parameter, a constant, or the tenant of a table that is named already. */
function namesTenant(value: Node, level: Level, layout: TenantLayout): boolean {
  if (value.ParamRef || value.A_Const) return true;
  if (value.TypeCast) return namesTenant((value.TypeCast as Node).arg as Node, level, layout);
  const alias = findTenantAlias(value, level, layout);
  if (alias !== undefined) return level.named.has(alias);
  // In a lateral sub-query the tenant of an outer row cannot be resolved to one worker.
  for (let outer = level.isLateral ? undefined : level.outer; outer; outer = outer.outer) {
    const found = findTenantAlias(value, outer, layout);
    if (found !== undefined) return outer.named.has(found) || !layout.tables.has(findTable(outer, found)?.name ?? "");
  }
  return false;
}

/** The table of this level whose tenant a column is. */
function findTenantAlias(column: Node, level: Level, layout: TenantLayout): string | undefined {
  const fields = asList((column.ColumnRef as Node | undefined)?.fields).map((field) =>
    String((field.String as Node | undefined)?.sval),
  );
  if (fields.at(-1) !== layout.tenant) return undefined;
  if (fields.length > 1) return findTable(level, String(fields.at(-2)))?.alias;
  return level.tables.find(({ name }) => layout.tables.has(name))?.alias;
}

function findTable(level: Level, alias: string): Table | undefined {
  return level.tables.find((table) => table.alias === alias);
}

/** The equalities of a condition that always hold when it does. */
function listEqualities(condition: Node): [Node, Node][] {
  const bool = condition.BoolExpr as Node | undefined;
  if (bool?.boolop === "AND_EXPR") return asList(bool.args).flatMap(listEqualities);
  const expression = condition.A_Expr as Node | undefined;
  const operator = asList(expression?.name)[0]?.String as Node | undefined;
  if (expression?.kind !== "AEXPR_OP" || operator?.sval !== "=" || !expression.lexpr || !expression.rexpr) return [];
  const [left, right] = [expression.lexpr as Node, expression.rexpr as Node];
  const rows = [left.RowExpr, right.RowExpr] as (Node | undefined)[];
  if (!rows[0] || !rows[1]) return [[left, right]];
  const others = asList(rows[1].args);
  return asList(rows[0].args).map((one, index): [Node, Node] => [one, others[index] ?? {}]);
}

/** The statements inside of an expression, without those inside of them. */
function findSubqueries(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(findSubqueries);
  if (value === null || typeof value !== "object") return [];
  const node = value as Node;
  if (node.SelectStmt) return [node];
  return Object.values(node).flatMap(findSubqueries);
}

function collectTables(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(collectTables);
  if (value === null || typeof value !== "object") return [];
  const node = value as Node;
  const range = node.RangeVar as Node | undefined;
  return range ? [String(range.relname)] : Object.values(node).flatMap(collectTables);
}

function asList(value: unknown): Node[] {
  return (value as Node[] | undefined) ?? [];
}
