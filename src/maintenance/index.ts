export {
  type BackupInfo,
  type BackupOptions,
  type RestoreResult,
  restoreBackup,
  takeBackup,
} from "./backup.ts";
export { type Change, type ChangeFeed, createChangeFeed } from "./change-feed.ts";
export { checkDatabase, type DatabaseCheck } from "./check-database.ts";
export { distributeDatabase } from "./distribute-database.ts";
export { type DoctorOptions, type DoctorReport, runDoctor } from "./doctor.ts";
export { type ForgetPersonOptions, type ForgetPersonReport, forgetPerson } from "./erasure/forget-person.ts";
export { type BackupFile, listBackups } from "./list-backups.ts";
export { applyRetention, type RetentionReport } from "./retention.ts";
export { type RewriteOptions, rewriteDatabase } from "./rewrite-database.ts";
export { readStatus, type Status } from "./status.ts";
