/** The connections that Kysely and batches use: each call is reported, each tenant named, each error translated. */
import type { PostgresPoolClient } from "kysely";
import pg from "pg";
import { VarveError } from "../../domain/index.ts";
import type { OpenStoreOptions, StoreCall } from "../port.ts";
import { combineExpressions, type Fragment } from "./combine-statements.ts";
import { type Connections, numberTypes } from "./connections.ts";
import { toPostgresError } from "./errors.ts";
import { type StatementResult, sendFlight } from "./flight.ts";
import type { Replica } from "./replica.ts";
import { nameTenant } from "./row-security.ts";
import type { StatementNames } from "./statement-names.ts";

export const noRows: StatementResult = { command: null, rowCount: 0, rows: [] };
/** Lets a transaction end before it is on disk: as an expression, and as a statement of its own. */
export const withoutSync: Fragment = { text: "set_config('synchronous_commit', 'off', true)", values: [] };
export const disableSyncText = "set local synchronous_commit = off";

/** The overloads of pg cannot be named from outside; this is the one in use. */
type Query = (text: unknown, parameters?: readonly unknown[]) => Promise<unknown>;

/** Facts about the server, known once the database is open. */
export interface ServerFacts {
  /** Whether the role of the connections is bound by row-level security, so that every transaction names its tenant. */
  isTenancyEnforced: boolean;
  /** Whether statements may run on other servers, which know a transaction only when it was begun. */
  isDistributed: boolean;
  names: StatementNames;
}

/** Statements for one round trip and one transaction, after expressions that are evaluated in one statement. */
export interface FlightRequest {
  expressions: readonly Fragment[];
  statements: readonly Fragment[];
}

export interface FlightResult {
  /** The values of the expressions; undefined when there were none. */
  row: unknown;
  results: StatementResult[];
}

interface TappedConnection extends PostgresPoolClient {
  runFlight(call: StoreCall, flight: FlightRequest): Promise<FlightResult>;
}

/** The pool for Kysely, with every call reported to the tap, every tenant named and every error translated. */
export function createTappedPool(
  connections: Connections,
  replica: Replica | undefined,
  options: OpenStoreOptions,
  server: ServerFacts,
) {
  return {
    async connect(): Promise<TappedConnection> {
      const client = (await replica?.checkOut()) ?? (await connections.checkOut());
      // A connection may break between two statements; the next statement reports it.
      let broken = false;
      const onError = () => {
        broken = true;
      };
      client.on("error", onError);
      const { names } = server;
      const send: Query = (text, parameters) => {
        const name = parameters && parameters.length > 0 ? names.find(String(text)) : undefined;
        const query = client.query as unknown as Query;
        return name === undefined
          ? query.call(client, text, parameters)
          : query.call(client, { text, values: parameters, name });
      };
      const tenant = server.isTenancyEnforced ? nameTenant() : undefined;
      let isInTransaction = false;
      /** The start of a transaction, which is sent with its first statement. */
      let beginning: { begin: Fragment; expressions: Fragment[] } | undefined;
      const nameAll = (statements: readonly Fragment[]) =>
        statements.map((one) => ({ ...one, name: names.find(one.text) }));
      /** Sends statements as one transaction; a name that the server does not know is not used again. */
      const sendStatements = async (statements: readonly Fragment[]): Promise<StatementResult[]> => {
        try {
          return await sendFlight(client, nameAll(statements), numberTypes);
        } catch (error) {
          if (!names.learnFrom(error)) throw error;
          // A transaction that was begun has to be ended before it can be begun again.
          if (server.isDistributed) await send("rollback");
          return sendFlight(client, nameAll(statements), numberTypes);
        }
      };
      const runFlight = async (call: StoreCall, { expressions, statements }: FlightRequest): Promise<FlightResult> => {
        const leading = [...(tenant === undefined ? [] : [tenant]), ...expressions];
        const lead = leading.length === 0 ? [] : [combineExpressions(leading)];
        const isBegun = server.isDistributed && call !== "read";
        const [first, last] = isBegun ? [[begin], [commit]] : [[], []];
        options.tap?.before?.(call);
        try {
          const results = await sendStatements([...first, ...lead, ...statements, ...last]);
          options.tap?.after?.(call);
          const own = results.slice(first.length, results.length - last.length);
          return { row: lead.length > 0 ? own[0]?.rows[0] : undefined, results: own.slice(lead.length) };
        } catch (error) {
          // Without an answer of the server it is unknown what the connection is still busy with.
          names.learnFrom(error);
          if (isLost(error)) broken = true;
          else if (isBegun) {
            await send("rollback").catch(() => {
              broken = true;
            });
          }
          throw toPostgresError(error, options.database);
        }
      };
      /** Outside of a transaction a statement gets one of its own, because the tenant is named for a transaction. */
      const sendForTenant = async (call: StoreCall, text: unknown, parameters?: readonly unknown[]) => {
        if (call === "begin") {
          isInTransaction = true;
          beginning = { begin: { text: String(text), values: [] }, expressions: tenant === undefined ? [] : [tenant] };
          return noRows;
        }
        if (isInTransaction) {
          isInTransaction = call !== "commit" && call !== "rollback";
          const unsent = beginning;
          if (unsent === undefined) return send(text, parameters);
          if (text === disableSyncText) {
            unsent.expressions.push(withoutSync);
            return noRows;
          }
          beginning = undefined;
          if (!isInTransaction) return noRows;
          const lead = unsent.expressions.length === 0 ? [] : [combineExpressions(unsent.expressions)];
          const statement = { text: String(text), values: parameters ?? [] };
          return (await sendFlight(client, nameAll([unsent.begin, ...lead, statement]), numberTypes)).at(-1);
        }
        // Some statements, such as `vacuum`, cannot be part of a flight; they have no parameters.
        if (tenant === undefined && (parameters?.length ?? 0) === 0) return send(text);
        const lead = tenant === undefined ? [] : [combineExpressions([tenant])];
        return (await sendStatements([...lead, { text: String(text), values: parameters ?? [] }])).at(-1);
      };
      const query = async (text: unknown, parameters?: readonly unknown[]) => {
        const call = classifyCall(String(text));
        try {
          options.tap?.before?.(call);
          const result = await sendForTenant(call, text, parameters);
          options.tap?.after?.(call);
          return result;
        } catch (error) {
          names.learnFrom(error);
          // It is unknown whether a transaction is still open, so the connection is not reused.
          if (call === "begin" || call === "commit" || call === "rollback" || isLost(error)) broken = true;
          throw toPostgresError(error, options.database);
        }
      };
      const release = () => {
        client.release(broken);
        client.off("error", onError);
      };
      return { query: query as PostgresPoolClient["query"], runFlight, release };
    },
    end: async () => undefined,
    options: {},
  };
}

/** Whether the connection broke, or the server ends it: it may take a moment until the driver notices. */
function isLost(error: unknown): boolean {
  if (error instanceof VarveError) return false;
  return !(error instanceof pg.DatabaseError) || error.severity === "FATAL";
}

const begin: Fragment = { text: "begin", values: [] };
const commit: Fragment = { text: "commit", values: [] };

function classifyCall(text: string): StoreCall {
  const verb = text.trimStart().slice(0, 8).toLowerCase();
  if (verb.startsWith("begin") || verb.startsWith("start")) return "begin";
  if (verb.startsWith("commit")) return "commit";
  if (verb.startsWith("rollback")) return "rollback";
  return verb.startsWith("select") ? "read" : "write";
}
