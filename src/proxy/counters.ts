/** What the proxy did since it was started. */
export interface ProxyCounters {
  requests: number;
  /** What was sent with its older part replaced. */
  replaced: number;
  /** How often what is sent was made anew, by a compaction or from summaries that were there. */
  compactions: number;
  /** Refusals of providers, because of the length, that the client never saw. */
  overflowsCured: number;
  /** Calls of recall tools that were answered inside. */
  recalls: number;
  /** What failed inside, so that a request was forwarded unchanged or went on without it. */
  failures: number;
  /** Messages that could not be written to the log when they passed. */
  notStored: number;
}

export const noCounts: Readonly<ProxyCounters> = {
  requests: 0,
  replaced: 0,
  compactions: 0,
  overflowsCured: 0,
  recalls: 0,
  failures: 0,
  notStored: 0,
};
