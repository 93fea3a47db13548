export { type Access, getAccess, isAgentOpen, runAsEngine, runWithAccess } from "./access.ts";
export { type Belonging, chooseAudience, type Door } from "./doors.ts";
export {
  canReadNotes,
  canWriteScope,
  checkScope,
  isScope,
  narrowScopes,
  requireWritable,
  visibleScopes,
  writeScope,
} from "./memory-scopes.ts";
export { printOwnerCommand } from "./owner-command.ts";
export {
  type Audience,
  findCanonicalPeer,
  getAudience,
  getPeerAudience,
  groupOwners,
  hasOwners,
  type IdentityLinks,
  isListed,
  isPerson,
  isProxyClient,
  isSamePeer,
  listAudiences,
  listOwnersAudiences,
  localChannel,
  type Owners,
  type Peer,
  parsePeerName,
  parsePerson,
  printItself,
  printPeerName,
  printPerson,
  printProxyClient,
  resolveAudience,
  resolvePeer,
} from "./people.ts";
export {
  allRights,
  canSeeConversation,
  canUseAgent,
  hasRight,
  isUnlimited,
  owner,
  type Principal,
  type Right,
} from "./principal.ts";
export { findNameFault, printCaller } from "./principal-names.ts";
export {
  type DmScope,
  isNobodys,
  isOwnersChat,
  isPersonal,
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
