import { signal } from "@preact/signals";
import { explainError } from "../api/client.ts";

export interface Toast {
  id: number;
  text: string;
  isFault: boolean;
  action?: { label: string; run: () => void };
}

export const toasts = signal<Toast[]>([]);
let count = 0;
const shownMs = 8_000;

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Says what happened; `action` is most often how to undo it. */
export function say(text: string, action?: Toast["action"], isFault = false): void {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value.slice(-3), { id, text, isFault, action }];
  setTimeout(() => closeToast(id), action || isFault ? shownMs * 2 : shownMs);
}

/** Runs something and says what went wrong; returns undefined then. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    say(explainError(error), undefined, true);
    return undefined;
  }
}
