import { readlinkSync } from "node:fs";

/** Where Linux and macOS keep the time zone of the machine: a link to a file of the zone database. */
const zoneLink = "/etc/localtime";

/**
 * The time zone of the machine. Where it is UTC, as on most servers, this is known without `Intl`, whose data takes 10 ms
 * and 8 MB to load.
 */
export function findLocalTimeZone(variable = process.env.TZ, link = zoneLink): string {
  const name = variable ?? readZoneLink(link);
  return name === "UTC" || name === "Etc/UTC" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function readZoneLink(link: string): string | undefined {
  try {
    return /\/zoneinfo\/(.+)$/.exec(readlinkSync(link))?.[1];
  } catch {
    // No link, as on Windows: `Intl` knows the zone.
    return undefined;
  }
}
