import { vi } from "vitest";

/** Deadlines that are over when the test says so: until `vi.restoreAllMocks`, no `AbortSignal.timeout` ends by itself. */
export function holdTimeouts(): { expire(): void } {
  const held: AbortController[] = [];
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
    const controller = new AbortController();
    held.push(controller);
    return controller.signal;
  });
  return {
    expire: () => {
      for (const controller of held) controller.abort(new DOMException("The time is over.", "TimeoutError"));
    },
  };
}
