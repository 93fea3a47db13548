/** PostgreSQL addresses with one or several hosts, as libpq reads them. The driver takes one host, so each gets a URL. */
import { VarveError } from "../../domain/index.ts";

const sessionTargets = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const;

/** Which servers of an address may be used (`target_session_attrs`). */
export type SessionTarget = (typeof sessionTargets)[number];

export interface ServerAddress {
  /** `host:port`, for messages. */
  name: string;
  /** The whole address with this host alone. */
  url: string;
}

export interface DatabaseAddress {
  servers: readonly [ServerAddress, ...ServerAddress[]];
  target: SessionTarget;
  /** `connect_timeout` in milliseconds, 0 for no limit; absent when the address does not say. */
  connectTimeoutMs?: number;
}

const addressPattern = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#@]*)((?:\/[^?#@]*)?)((?:\?[^#]*)?)$/i;
const hostPattern = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d+))?$/i;
const defaultPort = 5432;

/**
 * Reads an address; one that cannot be used is refused with the part that is wrong. Nearly everything writes, so of
 * several hosts one that can be written to is chosen unless the address says otherwise.
 */
export function parseAddress(database: string, defaultTarget: SessionTarget = "read-write"): DatabaseAddress {
  const [, scheme = "", user = "", hosts, path = "", query = ""] = addressPattern.exec(database) ?? [];
  if (hosts === undefined) throw refuseAddress(database, "it is not of the form postgres://user@host:port/database");
  const parameters = new URLSearchParams(query);
  for (const name of ["host", "port"]) {
    if (!parameters.get(name)?.includes(",")) continue;
    throw refuseAddress(database, `several hosts belong before the database name, not into the parameter ${name}`);
  }
  const names = hosts.split(",");
  const target = readTarget(database, parameters, names.length > 1 ? defaultTarget : "any");
  const timeout = parameters.get("connect_timeout") ?? "";
  parameters.delete("target_session_attrs");
  const rest = parameters.size === 0 ? "" : `?${parameters}`;
  // Without a host the driver uses its own default, or the parameter `host`.
  const servers =
    hosts === ""
      ? [{ name: parameters.get("host") ?? "localhost", url: `${scheme}${user}${path}${rest}` }]
      : names.map((name) => {
          const server = readHost(database, name);
          return { name: server, url: `${scheme}${user}${server}${path}${rest}` };
        });
  for (const { url, name } of servers) {
    if (hosts !== "" && URL.parse(url) === null) throw refuseAddress(database, `${name} cannot be read as a host`);
  }
  return {
    servers: servers as [ServerAddress, ...ServerAddress[]],
    target,
    ...(/^\d+$/.test(timeout) ? { connectTimeoutMs: 1_000 * Number(timeout) } : {}),
  };
}

function readTarget(database: string, parameters: URLSearchParams, defaultTarget: SessionTarget): SessionTarget {
  const given = parameters.get("target_session_attrs");
  if (given === null) return defaultTarget;
  const target = sessionTargets.find((one) => one === given);
  if (target === undefined) {
    throw refuseAddress(
      database,
      `target_session_attrs is ${JSON.stringify(given)} and must be one of ${sessionTargets.join(", ")}`,
    );
  }
  return target;
}

function readHost(database: string, text: string): string {
  const [, host, port] = hostPattern.exec(text) ?? [];
  if (host === undefined) {
    throw refuseAddress(database, `${JSON.stringify(text)} is not a host with an optional port, such as db1:5432`);
  }
  const number = Number(port ?? defaultPort);
  if (number < 1 || number > 65_535) throw refuseAddress(database, `the port ${port} of ${host} is not in 1 to 65535`);
  return `${host}:${number}`;
}

function refuseAddress(database: string, why: string): VarveError {
  return new VarveError("BAD_CONFIG", `The address ${redactPassword(database)} cannot be used: ${why}.`, {
    remedy:
      "Write it as postgres://user:password@host:5432/database, several hosts as postgres://user@a:5432,b:5432/database?target_session_attrs=read-write. Special characters in a password are percent-encoded.",
  });
}

/** The address without its passwords, also when it cannot be parsed. */
export function redactPassword(database: string): string {
  return database
    .replace(/^([a-z][a-z0-9+]*:\/\/[^:/@?#]*):.*@/is, "$1:***@")
    .replace(/([?&](?:ssl)?password=)[^&#]*/gi, "$1***");
}
