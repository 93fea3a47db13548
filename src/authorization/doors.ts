import type { SessionKey } from "../domain/index.ts";
import { type Audience, getAudience, printItself } from "./people.ts";

/**
 * The way by which something came in: `owner` (the command line, MCP on standard input, imports, local plugins with a
 * state of their own), `library` (a program that uses the package), `channel` (a message of somebody in a channel),
 * `http` (REST with a token), `proxy` (requests to a model).
 */
export type Door = "owner" | "library" | "channel" | "http" | "proxy";

/** Programs that the owner works with. Their sessions have the form of direct chats, with the session id as the peer. */
const programs: ReadonlySet<string> = new Set([
  ...["chatgpt", "claude-ai", "claude-code", "codex", "pi", "openclaw", "lossless-claw", "jsonl", "proxy", "cli"],
]);

/** Whom a new session belongs to, where its key does not say so: the owner, nobody but itself, or a person. */
export type Belonging = { owner: true } | { itself: true } | { audience: Audience };

/**
 * The audience of a new session: it follows from the key and the door, once. The name of a channel opens nothing: only
 * the owner's own programs are recognised by theirs.
 */
export function chooseAudience(key: SessionKey, door: Door, belonging?: Belonging): Audience | undefined {
  if (belonging !== undefined && "owner" in belonging) return undefined;
  if (belonging !== undefined && "audience" in belonging) return belonging.audience;
  if (belonging !== undefined) return nameItself(key);
  if (door === "owner" && key.kind === "direct" && programs.has(key.channel ?? "")) return undefined;
  return getAudience(key);
}

function nameItself(key: SessionKey): Audience {
  switch (key.kind) {
    case "direct":
      return printItself(key.channel ?? "local", key.peer);
    case "group":
      return printItself(key.channel, key.id);
    case "subagent":
    case "hook":
      return printItself(key.kind, key.id);
    case "cron":
      return printItself("cron", key.jobId);
    case "main":
      return printItself("main", key.name);
    case "pair":
      return printItself(key.channel, key.userId);
    case "global":
      return printItself("global", "global");
  }
}
