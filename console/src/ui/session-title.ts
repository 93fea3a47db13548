/** A name that people recognise for a session: its own, its subject, or its key in words. */
export interface NamedSession {
  key: string;
  displayName?: string;
  subject?: string;
  room?: string;
}

const kinds: Readonly<Record<string, string>> = {
  direct: "Direct chat with",
  group: "Group",
  channel: "Channel",
  room: "Room",
  subagent: "Sub-agent",
  cron: "Scheduled job",
  project: "Project",
};

const idCharsMax = 40;

export function sessionTitle(session: NamedSession): string {
  const own = session.displayName ?? session.subject ?? session.room;
  return own?.trim() ? own : describeKey(session.key);
}

/** `agent:main:telegram:direct:505` becomes `Direct chat with 505 on telegram`. */
export function describeKey(key: string): string {
  const parts = key.replace(/^agent:[^:]+:/, "").split(":");
  const [first = "", second = "", ...rest] = parts;
  if (parts.length === 1) return first === "main" ? "Main session" : capitalise(first);
  const id = rest.join(":");
  // Programs name their sessions by numbers that tell nobody anything.
  if (second === "direct" && /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id)) return `${first} session ${id.slice(0, 8)}`;
  const kind = kinds[second];
  if (kind !== undefined && rest.length > 0) return `${kind} ${id} on ${first}`;
  const firstKind = kinds[first];
  if (firstKind !== undefined) return `${firstKind} ${shorten(parts.slice(1).join(":"))}`;
  return `${capitalise(first)} ${parts.slice(1).join(":")}`;
}

/** A long id by its end, which differs where the start is that of its parent. */
function shorten(id: string): string {
  return id.length > idCharsMax ? `…${id.slice(-12)}` : id;
}

function capitalise(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
