export { annotateDates, toLocalDay } from "./dates/annotate-dates.ts";
export { type DateKind, type FoundDate, findDates } from "./dates/find-dates.ts";
export { dayMs } from "./dates/local-span.ts";
export { parseTimeSpan, scoreTimeFit, type TimeSpan } from "./dates/time-span.ts";
