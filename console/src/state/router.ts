/** The address of the page is its state: every view can be shared and reloaded. */
import { computed, signal } from "@preact/signals";

const current = signal(new URL(location.href));

export const path = computed(() => current.value.pathname);
export const query = computed(() => current.value.searchParams);

/** Opens another page or state; `replace` leaves no step in the history, for states that change while typing. */
export function navigate(href: string, { replace = false } = {}): void {
  const url = new URL(href, location.href);
  if (url.href === current.value.href) return;
  const isOtherPage = url.pathname !== current.value.pathname;
  history[replace ? "replaceState" : "pushState"](null, "", url);
  current.value = url;
  if (isOtherPage) scrollTo(0, 0);
}

/** Sets parameters of the address; an empty value removes one. */
export function setQuery(values: Record<string, string | undefined>, replace = true): void {
  const url = new URL(current.value);
  for (const [name, value] of Object.entries(values)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  navigate(url.href, { replace });
}

export function startRouter(): void {
  addEventListener("popstate", () => {
    current.value = new URL(location.href);
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element).closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.origin !== location.origin) return;
    if (link.hasAttribute("download") || link.pathname.startsWith("/api/")) return;
    event.preventDefault();
    navigate(link.href);
  });
}

export function sessionHref(key: string, more: Record<string, string> = {}): string {
  const parameters = new URLSearchParams(more).toString();
  return `/sessions/${encodeURIComponent(key)}${parameters === "" ? "" : `?${parameters}`}`;
}
