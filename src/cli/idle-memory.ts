/** When memory is returned: this long after the start, and this long after the last activity. */
const startedMs = 1_000;
const idleMs = 60_000;

export interface IdleMemory {
  /** Tells that the gateway is in use. Cheap enough for every request. */
  touch(): void;
  stop(): void;
}

/**
 * Returns memory to the system after the start of a gateway, unless it is already in use, and whenever it has become
 * idle. The engine of Node collects garbage when it allocates, so that an idle process would keep what its start left.
 */
export function followIdleMemory(release: () => void = releaseMemory): IdleMemory {
  const started = setTimeout(release, startedMs).unref();
  const idle = setTimeout(release, idleMs).unref();
  return {
    touch() {
      clearTimeout(started);
      idle.refresh();
    },
    stop() {
      clearTimeout(started);
      clearTimeout(idle);
    },
  };
}

/** Takes 50 to 100 ms. Does nothing without `--expose-gc`, which `bin/varve.js` sets for a gateway. */
function releaseMemory(): void {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
