export { behindOf, type CatchUpOptions, type CatchUpResult, catchUp } from "./catch-up.ts";
export { find } from "./find.ts";
export { type RankRequest, rankMessages } from "./rank-messages.ts";
export { openRoom, type SearchRoom } from "./room.ts";
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
