export {
  agentScope,
  checkScope,
  isScope,
  narrowScopes,
  reflectionScope,
  visibleScopes,
  writeScope,
} from "./memory-scopes.ts";
export { allRights, canUseAgent, hasRight, owner, type Principal, type Right } from "./principal.ts";
export { foreignAgent, type Requester, resolveVisibility, type Visibility } from "./visibility.ts";
