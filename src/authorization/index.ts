export { type Access, getAccess, isAgentOpen, runAsEngine, runWithAccess } from "./access.ts";
export {
  canWriteScope,
  checkScope,
  isScope,
  narrowScopes,
  requireWritable,
  visibleScopes,
  writeScope,
} from "./memory-scopes.ts";
export {
  type Audience,
  findCanonicalPeer,
  getAudience,
  hasOwners,
  type IdentityLinks,
  isOwnerPeer,
  isPerson,
  listAudiences,
  type Owners,
  resolveAudience,
} from "./people.ts";
export {
  allRights,
  canSeeConversation,
  canUseAgent,
  hasRight,
  owner,
  type Principal,
  type Right,
} from "./principal.ts";
export {
  listSharedScopes,
  narrowPrincipal,
  type Reach,
  type RecallVisibility,
  resolveReach,
  resolveSpeaker,
} from "./reach.ts";
export { foreignAgent, type Requester, resolveAccess, resolveVisibility } from "./resolve-visibility.ts";
export { agentScope, reflectionScope } from "./scope-names.ts";
export type { Visibility } from "./visibility.ts";
