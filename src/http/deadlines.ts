/** How long the gateway waits where no setting says so, in milliseconds. */
export interface GatewayDeadlines {
  /** For running requests to end when the gateway closes. */
  drainMs: number;
  /** For the store to answer a health check. */
  healthMs: number;
  /** For the work of a hook that needs no output; after that the answer is sent and the work continues. */
  hookMs: number;
  /** Between checks whether the TLS files have changed. */
  tlsCheckMs: number;
  /** The deadlines of the model proxy; defaults where absent. */
  proxy: { ratioMs?: number; recordMs?: number };
}

export const defaultDeadlines: GatewayDeadlines = {
  drainMs: 5_000,
  healthMs: 2_000,
  hookMs: 100,
  tlsCheckMs: 5_000,
  proxy: {},
};
