/** Goes anywhere: pages, sessions by name, memories and messages by words. */
import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { call } from "../api/client.ts";
import { navigate, sessionHref } from "../state/router.ts";
import { Dialog } from "./dialog.tsx";
import { isPaletteOpen } from "./keys.ts";
import { sessionTitle } from "./session-title.ts";

interface Target {
  label: string;
  kind: string;
  href: string;
}

const pages: Target[] = [
  { label: "Home", kind: "page", href: "/" },
  { label: "Search", kind: "page", href: "/search" },
  { label: "Sessions", kind: "page", href: "/sessions" },
  { label: "Memory", kind: "page", href: "/memory" },
  { label: "Talk", kind: "page", href: "/talk" },
  { label: "System", kind: "page", href: "/system" },
];
const waitMs = 120;

export function Palette() {
  const text = useSignal("");
  const targets = useSignal<Target[]>(pages);
  const chosen = useSignal(0);
  const listId = useId();
  const close = () => {
    isPaletteOpen.value = false;
  };
  const open = (target: Target | undefined) => {
    if (!target) return;
    close();
    navigate(target.href);
  };
  const words = text.value.trim();
  useEffect(() => {
    const control = new AbortController();
    const timer = setTimeout(() => {
      void findTargets(words, control.signal).then((found) => {
        if (control.signal.aborted) return;
        targets.value = found;
        chosen.value = 0;
      });
    }, waitMs);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [words]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      chosen.value = (chosen.value + step + targets.value.length) % Math.max(1, targets.value.length);
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(targets.value[chosen.value]);
    }
  };
  return (
    <Dialog title="Go to" className="palette" onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-label="Go to a page, a session or a search"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={`${listId}-${chosen.value}`}
        placeholder="Go to a page, a session, or search…"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onKeyDown={onKeyDown}
      />
      <div class="plain" role="listbox" id={listId} aria-label="Places">
        {targets.value.map((target, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus and names the chosen option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
          <div
            key={target.href}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === chosen.value}
            onClick={() => open(target)}
          >
            <span>{target.label}</span>
            <span>{target.kind}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

async function findTargets(words: string, signal: AbortSignal): Promise<Target[]> {
  if (words === "") return pages;
  const named = pages.filter(({ label }) => label.toLowerCase().startsWith(words.toLowerCase()));
  const search = { label: `Search for “${words}”`, kind: "search", href: `/search?q=${encodeURIComponent(words)}` };
  try {
    const { sessions } = await call("GET /api/sessions", { query: { match: words, limit: 8 }, signal });
    const found = sessions.map((session) => ({
      label: sessionTitle(session),
      kind: "session",
      href: sessionHref(session.key),
    }));
    return [...named, ...found, search];
  } catch {
    return [...named, search];
  }
}
