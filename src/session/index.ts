export { type Address, checkAddress } from "./address.ts";
export type { EndingSession, ResetReason } from "./announce-reset.ts";
export { beginCronRun, logCronRun, type RunLogLimits } from "./cron.ts";
export type { ReadableSession } from "./earlier.ts";
export type { Forked, ForkOptions, ReadParentView } from "./fork.ts";
export {
  type ListedSession,
  type ListOptions,
  listSessions,
  type SessionPage,
  sessionHistory,
  sessionSorts,
  type TranscriptInfo,
} from "./list.ts";
export { addOwner, readOwners } from "./owner-rows.ts";
export { createOwnerService, type Owner, type OwnerService, type UnknownPerson } from "./owners.ts";
export { listRecordedIds } from "./recorded-ids.ts";
export { renewNow, restoreSession } from "./renew.ts";
export { expiry, findTrigger, type ResetRule, type ResetSettings, ruleFor } from "./reset-policy.ts";
export {
  type Received,
  type Resolved,
  type ResolveOptions,
  type Resolver,
  receiveText,
  resolveSession,
  type SessionSettings,
} from "./resolve.ts";
export { type RoutingSettings, routeAddress } from "./route.ts";
export {
  type CreateSession,
  createSession,
  findKeyOf,
  findSession,
  findSessionIfAny,
  findSessionRow,
  getSession,
  lockName,
  type NewTranscript,
  newConversation,
  openTranscript,
  readSessionStart,
  resolveAgent,
  sessionStartQuery,
} from "./rows.ts";
export { maySend, type SendDecision, type SendPolicySettings, type SendRule } from "./send-policy.ts";
export { type Session, type SessionPatch, type SessionRow, sessionFromRow } from "./session.ts";
export { resolveConversationPrincipal } from "./session-principal.ts";
export { createSessionService, type SessionService } from "./session-service.ts";
export {
  addNotice,
  countTokens,
  deleteSession,
  markMemoryFlush,
  type NoticeAudience,
  noticesDelete,
  readNotices,
  removeConversations,
  takeNotices,
  tokensUpdate,
  updateSession,
} from "./update.ts";
export { listMainSenders } from "./upgraded-owner.ts";
