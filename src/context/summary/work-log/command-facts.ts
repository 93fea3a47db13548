import { oneLine } from "../../../transcript/index.ts";

/** The programs that a command runs, with their verbs: `cp`, `git push`. When one succeeds later, its error is fixed. */
export function listPrograms(command: string): string[] {
  return oneLine(command)
    .split(/&&|\|\||;/)
    .map((part) => part.trim().replace(/^(?:sudo |[A-Z_]+=\S+ )+/, ""))
    .filter((part) => part !== "" && !part.startsWith("cd "))
    .map((part) => {
      const [name = "", verb = ""] = part.split(" ");
      return /^[a-z][\w-]*$/.test(verb) ? `${name} ${verb}` : name;
    });
}

/** Commands that only look at something: that they found nothing is no error of the work. */
export function isLooking(command: string): boolean {
  return /^\s*(?:cd [^;&|]+(?:&&|;)\s*)?(?:grep|rg|ls|find|cat|head|tail|wc|awk|sed -n|which|stat|tree|less|git (?:log|show|status|diff|grep|ls-files))\b/.test(
    command,
  );
}

const address =
  /\b(?:https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0)(?::\d{2,5})?\S*|listening on \S+|running (?:at|on) \S+)/i;
const version = /^(?:v?\d+\.\d+[\w.+-]*|[\w@/ .-]{1,40} v?\d+\.\d+[\w.+-]*)$/m;

/** Facts that commands show: versions that were asked for, addresses of servers. */
export function readFacts(command: string, output: string): string[] {
  const facts: string[] = [];
  const head = output.slice(0, 4_000);
  if (/(?:--version|-v|-V)\s*(?:$|[;&|])/.test(command)) {
    const found = version.exec(head)?.[0].trim();
    if (found !== undefined) facts.push(`${oneLine(command).slice(0, 60)}: ${found}`);
  }
  const place = address.exec(head)?.[0];
  if (place !== undefined) facts.push(`${oneLine(command).slice(0, 60)}: ${place.slice(0, 80)}`);
  return facts;
}
