import { signal } from "@preact/signals";
import type { Answer } from "./client.ts";

/** Who is logged in, and with which rights. */
export const me = signal<Answer<"GET /api/me"> | undefined>(undefined);
/** Goes with every request that writes, so that no other page can forge one. */
export const requestToken = signal("");
/** Whether the login has ended: the page says how to log in again. */
export const isLoggedOut = signal(false);

export function canWrite(): boolean {
  return me.value?.rights.includes("write") ?? false;
}

export function isAdmin(): boolean {
  return (me.value?.rights.includes("admin") ?? false) && me.value?.bound !== true;
}

/** Whether this login may do everything, as the owner may. */
export function isUnlimited(): boolean {
  return isAdmin() && me.value?.scopes === undefined;
}

/** The key of a new session that is begun here. */
export function createSessionKey(): string {
  return `agent:${me.value?.agent ?? "main"}:console:direct:${Date.now().toString(36)}`;
}

export function showLogin(): void {
  isLoggedOut.value = true;
}

export function setMe(principal: Answer<"GET /api/me">): void {
  me.value = principal;
  requestToken.value = principal.requestToken ?? "";
  isLoggedOut.value = false;
}
