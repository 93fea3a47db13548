/** A button that opens a list of actions. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface MenuItem {
  label: string;
  run?: () => unknown;
  href?: string;
  isDangerous?: boolean;
}

export function Menu({ label, items, text = "⋯" }: { label: string; items: readonly MenuItem[]; text?: string }) {
  const isOpen = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const place = useSignal<Record<string, string>>({});
  useEffect(() => {
    if (!isOpen.value) return;
    box.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const close = (event: Event) => {
      if (event.target instanceof Node && box.current?.parentElement?.contains(event.target)) return;
      isOpen.value = false;
    };
    addEventListener("pointerdown", close);
    addEventListener("scroll", close, true);
    return () => {
      removeEventListener("pointerdown", close);
      removeEventListener("scroll", close, true);
    };
  }, [isOpen.value]);
  const open = () => {
    const rect = opener.current?.getBoundingClientRect();
    if (!rect) return;
    // Fixed, so that no list with a scroll bar cuts it off.
    const opensUp = rect.bottom + items.length * 36 + 16 > innerHeight;
    place.value = {
      right: `${Math.max(8, innerWidth - rect.right)}px`,
      ...(opensUp ? { bottom: `${innerHeight - rect.top + 4}px` } : { top: `${rect.bottom + 4}px` }),
    };
    isOpen.value = true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const links = [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = links.findIndex((link) => link.matches(":focus"));
    if (event.key === "Escape") {
      isOpen.value = false;
      opener.current?.focus();
    } else if (event.key === "ArrowDown") links[(at + 1) % links.length]?.focus();
    else if (event.key === "ArrowUp") links[(at - 1 + links.length) % links.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the menu inside
    <div class="menu" onKeyDown={onKeyDown}>
      <button
        ref={opener}
        type="button"
        class="button quiet"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value ? (isOpen.value = false) : open())}
      >
        {text}
      </button>
      {isOpen.value && (
        <div class="menu-list" role="menu" ref={box} style={place.value} aria-label={label}>
          {items.map((item) =>
            item.href === undefined ? (
              <button
                key={item.label}
                type="button"
                role="menuitem"
                class={item.isDangerous ? "danger" : ""}
                onClick={() => {
                  isOpen.value = false;
                  opener.current?.focus();
                  void item.run?.();
                }}
              >
                {item.label}
              </button>
            ) : (
              <a key={item.label} role="menuitem" href={item.href} download onClick={() => (isOpen.value = false)}>
                {item.label}
              </a>
            ),
          )}
        </div>
      )}
    </div>
  );
}
