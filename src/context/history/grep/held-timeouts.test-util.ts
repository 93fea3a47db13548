import { vi } from "vitest";

/** Deadlines that are over when the test says so. `vi.restoreAllMocks` brings the real ones back. */
export function holdTimeouts(): { expireLast(): void; expireAll(): void } {
  const held: AbortController[] = [];
  vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
    const controller = new AbortController();
    held.push(controller);
    return controller.signal;
  });
  return {
    expireLast: () => held.at(-1)?.abort(),
    expireAll() {
      for (const controller of held) controller.abort();
    },
  };
}
