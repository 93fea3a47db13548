import { canUseAgent, owner, type Requester } from "../../authorization/index.ts";
import { VarveError } from "../../domain/index.ts";
import type { Session } from "../../session/index.ts";
import { createGrant, endGrant, type Grant, readGrant, readGrants } from "./grants.ts";
import { resolveSearchScope, type ScopeResolver } from "./search-scope.ts";

export interface GrantRequest extends Requester {
  /** The session that delegates, or its key; its conversation is opened. */
  session: Session | string;
  /** Further sessions to open, by key or session id. */
  sessions?: string[];
  /** The most that may be read, in tokens. */
  tokenCap?: number;
  /** How long it can be used, in milliseconds. */
  ttlMs?: number;
}

/** Grants for sub-agents of a host: each opens some conversations, for a number of tokens, until a time. */
export interface GrantService {
  create(request: GrantRequest): Promise<Grant>;
  /** The grants of an agent, the newest first. */
  list(request?: Requester & { state?: Grant["state"]; limit?: number }): Promise<Grant[]>;
  /** Ends a grant at once. */
  revoke(id: string, request?: Requester): Promise<Grant>;
}

const tokenCapDefault = 16_000;
const tokenCapMax = 200_000;
const ttlDefaultMs = 3_600_000;
const ttlMaxMs = 86_400_000;
const listedMax = 200;

export function createGrantService(resolver: ScopeResolver): GrantService {
  const { store, sessions, config } = resolver;
  const resolveAgent = ({ agent = config.agent, principal = owner }: Requester): string => {
    if (canUseAgent(principal, agent)) return agent;
    throw new VarveError("FORBIDDEN", `The agent ${agent} is not visible to this token.`, {
      remedy: "Use the agent that the token is bound to.",
    });
  };
  return {
    async create({ session, sessions: others = [], tokenCap = tokenCapDefault, ttlMs = ttlDefaultMs, ...requester }) {
      checkNumber("tokenCap", tokenCap, tokenCapMax);
      checkNumber("ttlMs", ttlMs, ttlMaxMs);
      const origin = typeof session === "string" ? await sessions.get(session, requester.agent) : session;
      const agent = resolveAgent({ ...requester, agent: origin.agent });
      const opened = new Set<number>();
      for (const conversationId of [origin.key, ...others]) {
        const scope = { principal: requester.principal, agent, session: origin, conversationId };
        const { conversations = [] } = await resolveSearchScope(resolver, scope);
        if (conversations.length === 0) {
          throw new VarveError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(conversationId)}.`, {
            remedy: "Send keys or session ids that `varve sessions list` shows.",
          });
        }
        for (const conversation of conversations) opened.add(conversation);
      }
      return createGrant(store, { agent, originKey: origin.key, conversations: [...opened], tokenCap, ttlMs });
    },
    list: async ({ state, limit = listedMax, ...requester } = {}) =>
      readGrants(store, resolveAgent(requester), { state, limit: Math.min(limit, listedMax) }),
    async revoke(id, requester = {}) {
      const agent = resolveAgent(requester);
      await endGrant(store, { agent, id }, "revoked");
      const grant = await readGrant(store, agent, id);
      if (grant) return grant;
      throw new VarveError("NOT_FOUND", `There is no grant ${JSON.stringify(id.slice(0, 100))}.`, {
        remedy: "Send an id that `varve grants list` shows.",
      });
    },
  };
}

function checkNumber(name: string, value: number, max: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= max) return;
  throw new VarveError("BAD_REQUEST", `${name} ${value} is not a whole number from 1 to ${max}.`, {
    remedy: `Send a number in this range, or leave ${name} out.`,
  });
}
