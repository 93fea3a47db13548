/**
 * Several statements in one round trip. They share one `Sync` message, so the server runs them as one transaction without
 * `begin` and `commit`: when one fails, it undoes all of them, skips the rest, and the connection can be used again.
 *
 * The driver's own pipeline mode sends a `Sync` for each statement, which commits each of them alone.
 */
import { createRequire } from "node:module";
import pg from "pg";

/** The driver's own conversion of values to the form that they are sent in; it comes without types. */
const { prepareValue } = createRequire(import.meta.url)("pg/lib/utils.js") as { prepareValue(value: unknown): unknown };

export interface Statement {
  text: string;
  values: readonly unknown[];
  /** The name under which the server keeps the parsed statement; it is parsed each time when absent. */
  name?: string | undefined;
}

/** As the driver reports the result of a statement. */
export interface StatementResult {
  command: string | null;
  rowCount: number | null;
  rows: unknown[];
}

/** The part of the driver's connection that sends messages of the extended query protocol. */
interface WireConnection {
  readonly stream: { cork?(): void; uncork?(): void };
  /** Statements that the server has parsed, and those that were sent to it, by name. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { text: string; name: string | undefined }): void;
  bind(parameters: { portal: string; statement: string | undefined; values: unknown[] }): void;
  describe(target: { type: "P"; name: string }): void;
  execute(portal: { portal: string; rows: undefined }): void;
  sync(): void;
}

/** Builds rows from messages; the driver has no types for it. */
interface RowCollector extends StatementResult {
  addFields(fields: unknown): void;
  parseRow(fields: unknown): unknown;
  addRow(row: unknown): void;
  addCommandComplete(message: unknown): void;
}

type Settle = (error: Error | null, results?: StatementResult[]) => void;

/** A query of its own kind for the driver, which passes it the messages of the server until the connection is ready. */
class Flight {
  readonly #statements: readonly Statement[];
  readonly #values: unknown[][];
  readonly #collectors: RowCollector[];
  /** How many statements are complete: the number of the one that messages are about. */
  #done = 0;
  #parseError: Error | undefined;
  /** The driver replaces it where it limits the time of a query. */
  callback: Settle;

  constructor(statements: readonly Statement[], types: pg.CustomTypesConfig, settle: Settle) {
    this.#statements = statements;
    // Values that cannot be sent are refused here, before a part of the flight is on its way.
    this.#values = statements.map(({ values }) => values.map((value) => prepareValue(value)));
    const Collector = pg.Result as unknown as new (mode: undefined, types: pg.CustomTypesConfig) => RowCollector;
    this.#collectors = statements.map(() => new Collector(undefined, types));
    this.callback = settle;
  }

  /** The driver records under these two that the server has parsed a statement. */
  get name(): string | undefined {
    return this.#statements[this.#done]?.name;
  }

  get text(): string | undefined {
    return this.#statements[this.#done]?.text;
  }

  submit(connection: WireConnection): null {
    connection.stream.cork?.();
    try {
      for (const [index, { text, name }] of this.#statements.entries()) {
        if (name === undefined || !isKnown(connection, name)) {
          connection.parse({ text, name });
          if (name !== undefined) connection.submittedNamedStatements[name] = text;
        }
        connection.bind({ portal: "", statement: name, values: this.#values[index] ?? [] });
        connection.describe({ type: "P", name: "" });
        connection.execute({ portal: "", rows: undefined });
      }
      connection.sync();
    } finally {
      connection.stream.uncork?.();
    }
    return null;
  }

  handleRowDescription({ fields }: { fields: unknown }): void {
    this.#collectors[this.#done]?.addFields(fields);
  }

  handleDataRow({ fields }: { fields: unknown }): void {
    const collector = this.#collectors[this.#done];
    if (!collector || this.#parseError) return;
    try {
      collector.addRow(collector.parseRow(fields));
    } catch (error) {
      this.#parseError = error instanceof Error ? error : new Error(String(error));
    }
  }

  handleCommandComplete(message: unknown): void {
    this.#collectors[this.#done]?.addCommandComplete(message);
    this.#done += 1;
  }

  handleEmptyQuery(): void {
    this.#done += 1;
  }

  handlePortalSuspended(): void {
    // Portals are always read to their end.
  }

  handleCopyInResponse(connection: { sendCopyFail(message: string): void }): void {
    connection.sendCopyFail("A flight has no data to copy.");
  }

  handleCopyData(): void {
    // No statement of a flight copies.
  }

  handleError(error: Error, connection: WireConnection): void {
    // The server skipped the statements after the one that failed, so their names are unknown to it.
    for (const { name } of this.#statements.slice(this.#done)) {
      if (name !== undefined && connection.parsedStatements[name] === undefined) {
        delete connection.submittedNamedStatements[name];
      }
    }
    this.callback(error);
  }

  handleReadyForQuery(): void {
    if (this.#parseError) this.callback(this.#parseError);
    else this.callback(null, this.#collectors);
  }
}

function isKnown({ parsedStatements, submittedNamedStatements }: WireConnection, name: string): boolean {
  return parsedStatements[name] !== undefined || submittedNamedStatements[name] !== undefined;
}

/** Runs statements on a connection as one transaction, in one round trip; none takes effect when one of them fails. */
export function sendFlight(
  client: pg.ClientBase,
  statements: readonly Statement[],
  types: pg.CustomTypesConfig,
): Promise<StatementResult[]> {
  return new Promise((resolve, reject) => {
    const settle: Settle = (error, results = []) => (error ? reject(error) : resolve(results));
    client.query(new Flight(statements, types, settle) as unknown as pg.Submittable);
  });
}

const changing: ReadonlySet<string | null> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

/** How many rows a statement inserted, updated or deleted; 0 for a query. */
export function countChanges({ command, rowCount }: StatementResult): number {
  return changing.has(command) ? (rowCount ?? 0) : 0;
}
