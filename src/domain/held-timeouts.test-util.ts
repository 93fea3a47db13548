import { vi } from "vitest";

/** Deadlines that are over when the test says so: until `vi.restoreAllMocks`, no `AbortSignal.timeout` ends by itself. */
export function holdTimeouts(): { expireLast(): void; expireAll(): void; takeLast(): () => void } {
  const held: AbortController[] = [];
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
    const controller = new AbortController();
    held.push(controller);
    return controller.signal;
  });
  const expire = (controller: AbortController | undefined) =>
    controller?.abort(new DOMException("The time is over.", "TimeoutError"));
  return {
    expireLast: () => expire(held.at(-1)),
    /** A function that ends the deadline that is the last one now. */
    takeLast() {
      const last = held.at(-1);
      return () => expire(last);
    },
    expireAll() {
      for (const controller of held) expire(controller);
    },
  };
}
