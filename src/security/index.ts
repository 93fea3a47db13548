export type { AccessToken, IssuedToken, TokenState } from "./access-tokens/access-token.ts";
export {
  type AccessTokenService,
  createAccessTokenService,
  type NewAccessToken,
} from "./access-tokens/access-token-service.ts";
export { type AuditLog, type AuditQuery, createAuditLog } from "./audit/audit-log.ts";
export type { AuditEvent, AuditRecord, ChainLink } from "./audit/audit-record.ts";
export { type ChainReport, verifyChain } from "./audit/verify-chain.ts";
