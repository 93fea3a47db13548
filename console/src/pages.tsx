/** Which page an address shows. Each is loaded when it is opened first. */
import { computed, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { explainError } from "./api/client.ts";
import { path } from "./state/router.ts";
import { Empty, Fault } from "./ui/basics.tsx";
import { pageKeys } from "./ui/keys.ts";

interface PageProps {
  /** The key of the session in the address. */
  session: string;
}

interface PageEntry {
  name: string;
  pattern: RegExp;
  load: () => Promise<ComponentType<PageProps>>;
}

const entries: readonly PageEntry[] = [
  { name: "Home", pattern: /^\/$/, load: async () => (await import("./pages/home/view.tsx")).HomePage },
  { name: "Search", pattern: /^\/search$/, load: async () => (await import("./pages/search/view.tsx")).SearchPage },
  {
    name: "Sessions",
    pattern: /^\/sessions\/?$/,
    load: async () => (await import("./pages/sessions/view.tsx")).SessionsPage,
  },
  {
    name: "Context",
    pattern: /^\/sessions\/([^/]+)\/context$/,
    load: async () => (await import("./pages/context/view.tsx")).ContextPage,
  },
  {
    name: "Session",
    pattern: /^\/sessions\/([^/]+)$/,
    load: async () => (await import("./pages/session/view.tsx")).SessionPage,
  },
  { name: "Memory", pattern: /^\/memory$/, load: async () => (await import("./pages/memory/view.tsx")).MemoryPage },
  { name: "Talk", pattern: /^\/talk$/, load: async () => (await import("./pages/talk/view.tsx")).TalkPage },
  { name: "System", pattern: /^\/system$/, load: async () => (await import("./pages/system/view.tsx")).SystemPage },
  {
    name: "Citation",
    pattern: /^\/cite$/,
    load: async () => (await import("./pages/cite/view.tsx")).CitePage,
  },
];

const loaded = signal<ReadonlyMap<string, ComponentType<PageProps>>>(new Map());
const fault = signal<string | undefined>(undefined);

const place = computed(() => {
  for (const entry of entries) {
    const match = entry.pattern.exec(path.value);
    if (match) return { entry, session: decodeURIComponent(match[1] ?? "") };
  }
  return undefined;
});

export const pageName = computed(() => place.value?.entry.name ?? "Nothing here");

export function CurrentPage() {
  const entry = place.value?.entry;
  useEffect(() => {
    pageKeys.value = [];
    if (!entry || loaded.value.has(entry.name)) return;
    entry.load().then(
      (page) => {
        fault.value = undefined;
        loaded.value = new Map([...loaded.value, [entry.name, page]]);
      },
      (error: unknown) => {
        fault.value = explainError(error);
      },
    );
  }, [entry]);
  if (!place.value || !entry) {
    return (
      <Empty title="There is no page here" isPage>
        <a href="/">Go to the first page</a>
      </Empty>
    );
  }
  const Page = loaded.value.get(entry.name);
  if (fault.value !== undefined && !Page) return <Fault text={fault.value} onRetry={() => location.reload()} />;
  return Page ? <Page key={place.value.session} session={place.value.session} /> : null;
}
