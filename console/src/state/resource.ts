import { type Signal, signal } from "@preact/signals";
import { explainError } from "../api/client.ts";

/** Something that is read from the gateway: its last value stays while it is read again. */
export interface Resource<T> {
  readonly data: Signal<T | undefined>;
  readonly error: Signal<string | undefined>;
  readonly loading: Signal<boolean>;
  /** Reads it again; an earlier read that is still running is dropped. */
  load(): Promise<void>;
  set(value: T): void;
}

export function createResource<T>(read: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const data = signal<T | undefined>(undefined);
  const error = signal<string | undefined>(undefined);
  const loading = signal(false);
  let running: AbortController | undefined;
  return {
    data,
    error,
    loading,
    async load() {
      running?.abort();
      const control = new AbortController();
      running = control;
      loading.value = true;
      try {
        const value = await read(control.signal);
        if (control.signal.aborted) return;
        data.value = value;
        error.value = undefined;
      } catch (fault) {
        if (control.signal.aborted) return;
        error.value = explainError(fault);
      } finally {
        if (running === control) loading.value = false;
      }
    },
    set(value) {
      running?.abort();
      loading.value = false;
      data.value = value;
    },
  };
}
