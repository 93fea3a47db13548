/** Names and addresses: where the gateway may listen without tokens, and under which names it may be called. */

export interface Place {
  /** The address the gateway was told to listen on. */
  host: string;
  port: number;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
}

const ipv4Loopback = /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?$/;

/** Whether an address can be reached from this machine only. A name other than `localhost` might lead anywhere. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || ipv4Loopback.test(name);
}

/** An address as it stands in a URL. */
export function inUrl(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

/**
 * Whether a `Host` header names this gateway. A page that rebinds its own name to a loopback address still sends its
 * own name, so everything that is not known is turned away.
 */
export function isOwnHost(header: string | undefined, place: Place): boolean {
  const parts = hostHeader.exec(header?.toLowerCase() ?? "");
  const name = parts?.[1];
  if (name === undefined) return false;
  const port = parts?.[2] === undefined ? undefined : Number(parts[2]);
  const own = isLoopback(name) || name === inUrl(place.host.toLowerCase());
  if (own && (port ?? 80) === place.port) return true;
  return place.allowedHosts.some((allowed) => {
    const lower = allowed.toLowerCase();
    return lower === header?.toLowerCase() || lower === name;
  });
}

export type OriginKind = "none" | "own" | "allowed" | "foreign";

/** What an `Origin` header means, once the `Host` header was found to be this gateway's. */
export function originKind(origin: string | undefined, hostOfRequest: string | undefined, place: Place): OriginKind {
  if (origin === undefined) return "none";
  const given = origin.toLowerCase();
  const host = hostOfRequest?.toLowerCase();
  if (host !== undefined && (given === `http://${host}` || given === `https://${host}`)) return "own";
  const allowed = place.allowedOrigins.some((one) => one.toLowerCase().replace(/\/$/, "") === given);
  return allowed ? "allowed" : "foreign";
}
