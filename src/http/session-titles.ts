import type { Varve } from "../index.ts";

export interface SessionTitle {
  key: string;
  title?: string;
}

/** The keys and names of the sessions of conversations, by conversation. An archived conversation has none. */
export async function readSessionTitles(
  varve: Varve,
  agent: string | undefined,
  conversations: readonly number[],
): Promise<Map<number, SessionTitle>> {
  const wanted = [...new Set(conversations)];
  if (wanted.length === 0) return new Map();
  const { sessions } = await varve.sessions.list({ agent, conversations: wanted, all: true, limit: 1000 });
  return new Map(
    sessions.map(({ conversation, key, displayName, subject }) => [
      conversation,
      { key, title: displayName ?? subject },
    ]),
  );
}
