/** Keys that work on every page, and the list that `?` shows. */
import { signal } from "@preact/signals";
import { navigate } from "../state/router.ts";

export const isPaletteOpen = signal(false);
export const isHelpOpen = signal(false);
/** The keys of the page that is open. */
export const pageKeys = signal<readonly (readonly [string, string])[]>([]);

export const globalKeys = [
  ["Ctrl K", "Go anywhere, search everything"],
  ["/", "Search"],
  ["g h", "Home"],
  ["g s", "Sessions"],
  ["g m", "Memory"],
  ["g t", "Talk"],
  ["g y", "System"],
  ["?", "Show these keys"],
  ["Esc", "Close what is open"],
] as const;

const places: Readonly<Record<string, string>> = {
  h: "/",
  s: "/sessions",
  m: "/memory",
  t: "/talk",
  y: "/system",
  f: "/search",
};

export function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

export function startKeys(): void {
  let isGoing = false;
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      isPaletteOpen.value = !isPaletteOpen.value;
      return;
    }
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || isPaletteOpen.value) return;
    if (isGoing) {
      isGoing = false;
      const place = places[event.key];
      if (place !== undefined) {
        event.preventDefault();
        navigate(place);
      }
      return;
    }
    if (event.key === "g") isGoing = true;
    else if (event.key === "?") isHelpOpen.value = true;
    else if (event.key === "/") {
      event.preventDefault();
      navigate("/search");
      document.querySelector<HTMLInputElement>("#search-box")?.focus();
    }
  });
}
