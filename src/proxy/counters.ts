/** Counters since the start of the proxy. */
export interface ProxyCounters {
  requests: number;
  /** Requests that were sent with their older part replaced. */
  replaced: number;
  /** How often a new view was built, by a compaction or from existing summaries. */
  compactions: number;
  /** Context overflows that were resolved without an error for the client. */
  overflowsCured: number;
  /** Recall calls that the proxy answered. */
  recalls: number;
  /** Internal failures after which a request was forwarded unchanged or continued without a step. */
  failures: number;
  /** Failed attempts to write messages to the transcript. */
  notStored: number;
}

export const zeroCounters: Readonly<ProxyCounters> = {
  requests: 0,
  replaced: 0,
  compactions: 0,
  overflowsCured: 0,
  recalls: 0,
  failures: 0,
  notStored: 0,
};
