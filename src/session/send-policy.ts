import { type ChatType, getChannel, getChatType, parseSessionKey } from "../domain/index.ts";

export interface SendRule {
  action: "allow" | "deny";
  match: { channel?: string; chatType?: ChatType; keyPrefix?: string };
}

export interface SendPolicySettings {
  default: "allow" | "deny";
  rules: SendRule[];
}

export interface SendDecision {
  allowed: boolean;
  /** The rule that decided, for `/status` and for the error. */
  because: string;
}

/** The session's own override, then the rules (the first deny wins), then the default. */
export function maySend(
  settings: SendPolicySettings,
  session: { key: string; sendPolicy?: string; channel?: string },
  /** Where the message came from: direct chats of several channels may share one session. */
  from: { channel?: string } = {},
): SendDecision {
  if (session.sendPolicy === "allow" || session.sendPolicy === "deny") {
    return { allowed: session.sendPolicy === "allow", because: "the session's own send policy" };
  }
  const key = parseSessionKey(session.key);
  const facts = {
    channel: getChannel(key) ?? from.channel?.toLowerCase() ?? session.channel,
    chatType: getChatType(key),
    key: session.key,
  };
  const matching = settings.rules.filter((rule) => matches(rule, facts));
  const deciding = matching.find((rule) => rule.action === "deny") ?? matching[0];
  if (deciding) {
    return { allowed: deciding.action === "allow", because: `the send rule ${JSON.stringify(deciding.match)}` };
  }
  return { allowed: settings.default === "allow", because: "the default send policy" };
}

function matches({ match }: SendRule, facts: { channel?: string; chatType: ChatType; key: string }): boolean {
  if (match.channel !== undefined && match.channel.toLowerCase() !== facts.channel) return false;
  if (match.chatType !== undefined && match.chatType !== facts.chatType) return false;
  return match.keyPrefix === undefined || facts.key.startsWith(match.keyPrefix);
}
