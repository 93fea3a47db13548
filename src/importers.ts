/** Everything that reads transcripts of other programs, which the engine loads on demand. */
export { importEverything } from "./import-everything.ts";
export { importHostTranscript, watchTranscripts } from "./session/index.ts";
