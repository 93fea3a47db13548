export { importEverything } from "./import-everything.ts";
export { type ImportRequest, importHostTranscript, importTranscripts } from "./sessions/import-transcripts.ts";
export { type WatchRequest, watchTranscripts } from "./sessions/watch-transcripts.ts";
export type { HostPage, HostRecord, HostTranscript } from "./transcripts/host-source.ts";
export type { ImportProgress, ImportReport } from "./transcripts/import-types.ts";
export { legacyStoreName, parseLegacyStore } from "./transcripts/legacy.ts";
export { normaliseOpenclawKey } from "./transcripts/openclaw/session-keys.ts";
export { sourceNames } from "./transcripts/reader.ts";
