import {
  type ColumnNode,
  ColumnUpdateNode,
  type InsertQueryNode,
  type KyselyPlugin,
  type OperationNode,
  PrimitiveValueListNode,
  type QueryResult,
  TableNode,
  type UnknownRow,
  type UpdateQueryNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
} from "kysely";
import { sealedColumns } from "./sealed-columns.ts";
import type { Sealer } from "./sealer.ts";

/** Seals the values of sealed columns in inserts and updates, and opens every sealed text in results. */
export function createSealingPlugin(sealer: Sealer): KyselyPlugin {
  return {
    transformQuery({ node }) {
      if (node.kind === "InsertQueryNode") return sealInsert(node, sealer);
      if (node.kind === "UpdateQueryNode") return sealUpdate(node, sealer);
      return node;
    },
    transformResult: async ({ result }) => openResult(result, sealer),
  };
}

function openResult(result: QueryResult<UnknownRow>, sealer: Sealer): QueryResult<UnknownRow> {
  openRows(result.rows, sealer);
  return result;
}

/** Opens the sealed texts of rows, in place: the rows were just read and belong to nobody else. */
export function openRows(rows: readonly unknown[], sealer: Sealer): void {
  for (const row of rows as Record<string, unknown>[]) {
    if (typeof row !== "object" || row === null) continue;
    for (const name in row) {
      const value = row[name];
      if (typeof value === "string" && value.charCodeAt(0) === 2) row[name] = sealer.open(value);
    }
  }
}

function listSealed(table: OperationNode | undefined): ReadonlySet<string> {
  const name = table && TableNode.is(table) ? table.table.identifier.name : "";
  return new Set(sealedColumns[name] ?? []);
}

function nameOf(column: OperationNode): string {
  return (column as ColumnNode).column?.name ?? "";
}

function sealInsert(node: InsertQueryNode, sealer: Sealer): InsertQueryNode {
  const sealed = listSealed(node.into);
  const { values } = node;
  if (sealed.size === 0 || !values || !ValuesNode.is(values)) return node;
  const isSealed = (node.columns ?? []).map((column) => sealed.has(nameOf(column)));
  const rows = values.values.map((row) => {
    if (PrimitiveValueListNode.is(row)) {
      return PrimitiveValueListNode.create(
        row.values.map((value, at) => (isSealed[at] ? sealValue(value, sealer) : value)),
      );
    }
    return ValueListNode.create(
      row.values.map((value, at) =>
        isSealed[at] && ValueNode.is(value) ? ValueNode.create(sealValue(value.value, sealer)) : value,
      ),
    );
  });
  return { ...node, values: ValuesNode.create(rows) };
}

function sealUpdate(node: UpdateQueryNode, sealer: Sealer): UpdateQueryNode {
  const sealed = listSealed(node.table);
  if (sealed.size === 0 || !node.updates) return node;
  const updates = node.updates.map((update) =>
    sealed.has(nameOf(update.column)) && ValueNode.is(update.value)
      ? ColumnUpdateNode.create(update.column, ValueNode.create(sealValue(update.value.value, sealer)))
      : update,
  );
  return { ...node, updates };
}

function sealValue(value: unknown, sealer: Sealer): unknown {
  return typeof value === "string" ? sealer.seal(value) : value;
}
