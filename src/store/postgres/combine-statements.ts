/** Several expressions or queries as one statement, so that the server is sent, and plans, one. */
import type { StatementResult } from "./flight.ts";

/** A piece of SQL whose parameters are numbered from `$1`. */
export interface Fragment {
  text: string;
  values: readonly unknown[];
}

/** Numbers the parameters of fragments one after another. Texts come from this program, and have no other `$`. */
function renumber(fragments: readonly Fragment[]): { texts: string[]; values: unknown[] } {
  const values: unknown[] = [];
  const texts = fragments.map((fragment) => {
    const offset = values.length;
    values.push(...fragment.values);
    return offset === 0
      ? fragment.text
      : fragment.text.replaceAll(/\$(\d+)/g, (_, digits) => `$${Number(digits) + offset}`);
  });
  return { texts, values };
}

/**
 * One row with the values of expressions, which are evaluated in their order. Without a table, so that an expression
 * may set what row-level security reads.
 */
export function combineExpressions(fragments: readonly Fragment[]): Fragment {
  const { texts, values } = renumber(fragments);
  return { text: `select ${texts.join(", ")}`, values };
}

/**
 * One query for the rows of several, each as JSON. They see one snapshot. JSON keeps numbers, texts, booleans and nulls;
 * the columns of bytes have no such form and must be read on their own.
 */
export function combineQueries(queries: readonly Fragment[]): Fragment {
  const { texts, values } = renumber(queries);
  const columns = texts.map((text, index) => `(select coalesce(json_agg(q), '[]') from (${text}) as q) as q${index}`);
  return { text: `select ${columns.join(", ")}`, values };
}

/** The rows of each query of `combineQueries`. */
export function splitRows({ rows }: StatementResult, count: number): unknown[][] {
  const [row = {}] = rows as Record<string, unknown[]>[];
  return Array.from({ length: count }, (_, index) => row[`q${index}`] ?? []);
}
