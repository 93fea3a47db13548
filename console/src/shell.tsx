import { useEffect } from "preact/hooks";
import { connection } from "./api/events.ts";
import { isLoggedOut, me } from "./api/login.ts";
import icon from "./icon.svg";
import { CurrentPage, pageName } from "./pages.tsx";
import { path } from "./state/router.ts";
import { closeToast, toasts } from "./state/toasts.ts";
import { QuestionDialog } from "./ui/dialog.tsx";
import { Icon, type IconName } from "./ui/icons.tsx";
import { isPaletteOpen } from "./ui/keys.ts";
import { KeysDialog } from "./ui/keys-dialog.tsx";
import { Palette } from "./ui/palette.tsx";

const places: readonly (readonly [string, string, IconName])[] = [
  ["/", "Home", "home"],
  ["/search", "Search", "search"],
  ["/sessions", "Sessions", "sessions"],
  ["/memory", "Memory", "memory"],
  ["/talk", "Talk", "talk"],
  ["/system", "System", "system"],
];

export function Shell() {
  useEffect(() => {
    document.title = `${pageName.value} · Varve`;
  }, [pageName.value]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="shell">
        <Side />
        <div>
          <LostBanner />
          <main id="main" class="page" tabIndex={-1}>
            <CurrentPage />
          </main>
        </div>
      </div>
      <Toasts />
      {isPaletteOpen.value && <Palette />}
      <KeysDialog />
      <QuestionDialog />
    </>
  );
}

function Side() {
  const isHere = (href: string) => (href === "/" ? path.value === "/" : path.value.startsWith(href));
  return (
    <aside class="side" aria-label="Console">
      <a class="brand" href="/">
        <img src={icon} alt="" />
        Varve
      </a>
      <button type="button" class="palette-button" onClick={() => (isPaletteOpen.value = true)}>
        Go to… <kbd>Ctrl K</kbd>
      </button>
      <nav class="nav" aria-label="Pages">
        {places.map(([href, name, iconName]) => (
          <a key={href} href={href} aria-current={isHere(href) ? "page" : undefined}>
            <Icon name={iconName} />
            <span>{name}</span>
          </a>
        ))}
      </nav>
      <div class="foot">
        <span class={`pulse ${connection.value === "lost" ? "lost" : ""}`}>
          {connection.value === "live" ? "Live" : connection.value === "lost" ? "Not connected" : "Connecting"}
        </span>
        <span>
          {me.value?.name} · {me.value?.rights.includes("admin") ? "admin" : me.value?.rights.join(", ")}
        </span>
        <span>Varve {me.value?.version} · press ? for keys</span>
      </div>
    </aside>
  );
}

/** A lost gateway is said at once; the page continues by itself when it is back. */
function LostBanner() {
  if (isLoggedOut.value) {
    return (
      <div class="lost-banner" role="alert">
        This login has ended. Start the gateway with <code>varve start</code> and open the link that it prints.
      </div>
    );
  }
  if (connection.value !== "lost") return null;
  return (
    <div class="lost-banner" role="alert">
      The gateway does not answer. What you see is the last state; the page continues by itself when it is back.
    </div>
  );
}

function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast ${toast.isFault ? "danger" : ""}`}>
          <span>{toast.text}</span>
          {toast.action && (
            <button
              type="button"
              onClick={() => {
                closeToast(toast.id);
                toast.action?.run();
              }}
            >
              {toast.action.label}
            </button>
          )}
          <button type="button" aria-label="Close" onClick={() => closeToast(toast.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
