export { behindOf, type CatchUpOptions, type CatchUpResult, catchUp, chunksBehindOf } from "./catch-up.ts";
export { type CorpusFolder, includeDefault, isSkipped, notesFolder } from "./corpus/folders.ts";
export { type CorpusText, type ReadRequest, readCorpus } from "./corpus/read.ts";
export { citationOf } from "./corpus/shelf.ts";
export { type SyncOptions, type SyncResult, syncCorpus } from "./corpus/sync.ts";
export { find } from "./find.ts";
export { type PruneResult, pruneSpaces } from "./prune.ts";
export { type RankRequest, rankMessages } from "./rank-messages.ts";
export { openRoom, type SearchRoom } from "./room.ts";
export { type Serving, servingRoom } from "./serving.ts";
export { otherSpaces } from "./spaces-ahead.ts";
export { chooseWords } from "./text/choose-words.ts";
export { embeddedText } from "./text/parse-query.ts";
export {
  type Confidence,
  type DecodedEntry,
  type FindOptions,
  type Leg,
  type Mode,
  type Profile,
  profiles,
  type ResultKind,
  resultKinds,
  type SearchAnswer,
  type SearchHost,
  type SearchResult,
  type StageName,
  stageNames,
} from "./types.ts";
export { VectorBlock } from "./vectors/block.ts";
export { signed, unsigned } from "./vectors/math.ts";
export { findSpace, makeSpace } from "./vectors/spaces.ts";
