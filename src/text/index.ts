export { annotateDates, toLocalDay } from "./dates/annotate-dates.ts";
export { type DateKind, type FoundDate, findDates } from "./dates/find-dates.ts";
export { dayMs } from "./dates/local-span.ts";
export { parseTimeSpan, scoreTimeFit, type TimeSpan } from "./dates/time-span.ts";
export { detectLanguage, detectLanguages, lexicons } from "./language/detect-language.ts";
export {
  type Attribute,
  attributes,
  compileWords,
  type Lexicon,
  type PersonSlot,
  type SentencePattern,
  type Slot,
  type ValueKind,
} from "./language/lexicon.ts";
export { getRelatedWords } from "./language/related-words.ts";
export { endsInQuestion, isQuestion } from "./questions.ts";
export { findSentences, isSentenceEnd, type Span } from "./sentences.ts";
export { estimateMessageTokens, estimateTokens } from "./tokens/estimate.ts";
