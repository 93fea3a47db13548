export { type AuditLog, type AuditQuery, createAuditLog } from "./audit-log.ts";
export type { AuditEvent, AuditRecord, ChainLink } from "./audit-record.ts";
export { type ChainReport, verifyChain } from "./verify-chain.ts";
