/** Decides which bind addresses are loopback, and which Host and Origin headers belong to the gateway. */

export interface GatewayAddress {
  /** The address the gateway was told to listen on. */
  host: string;
  port: number;
  /** Whether it is served over TLS, which decides the port that a Host header may leave out. */
  secure?: boolean;
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
}

const ipv4Loopback = /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;
const hostHeader = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?$/;

/** Whether only this machine can reach an address. Names other than `localhost` may resolve to any address. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || ipv4Loopback.test(name);
}

/** Formats an address for a URL: IPv6 in brackets. */
export function formatUrlHost(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

/**
 * Whether a `Host` header names this gateway. Unknown names are refused, because a page that rebinds its name to a
 * loopback address (DNS rebinding) still sends its own name.
 */
export function isOwnHost(header: string | undefined, address: GatewayAddress): boolean {
  const parts = hostHeader.exec(header?.toLowerCase() ?? "");
  const name = parts?.[1];
  if (name === undefined) return false;
  const port = parts?.[2] === undefined ? undefined : Number(parts[2]);
  const own = isLoopback(name) || name === formatUrlHost(address.host.toLowerCase());
  if (own && (port ?? (address.secure ? 443 : 80)) === address.port) return true;
  return address.allowedHosts.some((allowed) => {
    const lower = allowed.toLowerCase();
    return lower === header?.toLowerCase() || lower === name;
  });
}

export type OriginKind = "none" | "own" | "allowed" | "foreign";

/** Classifies an `Origin` header, after `isOwnHost` has accepted the `Host` header. */
export function classifyOrigin(
  origin: string | undefined,
  hostOfRequest: string | undefined,
  address: GatewayAddress,
): OriginKind {
  if (origin === undefined) return "none";
  const given = origin.toLowerCase();
  const host = hostOfRequest?.toLowerCase();
  if (host !== undefined && (given === `http://${host}` || given === `https://${host}`)) return "own";
  const allowed = address.allowedOrigins.some((one) => one.toLowerCase().replace(/\/$/, "") === given);
  return allowed ? "allowed" : "foreign";
}
