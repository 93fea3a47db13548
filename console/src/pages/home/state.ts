import { signal } from "@preact/signals";
import { call, explainError } from "../../api/client.ts";
import { onChange, onEvent } from "../../api/events.ts";
import { isAdmin } from "../../api/login.ts";
import { loadPeople } from "../../state/owners.ts";
import { createResource } from "../../state/resource.ts";
import { type ImportState, importFiles, importFolder } from "./queries.ts";

const recentMax = 6;

export const status = createResource((abort) => call("GET /api/status", { signal: abort }));
export const recent = createResource(async (abort) => {
  const { sessions } = await call("GET /api/sessions", { query: { limit: recentMax }, signal: abort });
  const keys = sessions.map(({ key }) => key);
  const { cores } =
    keys.length === 0 ? { cores: [] } : await call("POST /api/sessions/cores", { body: { keys }, signal: abort });
  return { sessions, cores };
});
export const imports = signal<ImportState[]>([]);
/** The bytes of an upload that have arrived. */
export const upload = signal<{ sent: number; total: number } | undefined>(undefined);
export const importFault = signal<string | undefined>(undefined);

export async function loadImports(): Promise<void> {
  if (isAdmin()) imports.value = (await call("GET /api/imports", {})).imports;
}

/** Keeps the page current; returns how to stop. */
export function followHome(): () => void {
  const stops = [
    onChange(
      [
        "messages.appended",
        "session.created",
        "person.unknown",
        "session.deleted",
        "compaction",
        "memories",
        "memories.changed",
        "jobs.changed",
        "job.failed",
        "turn.ended",
        "import.ended",
      ],
      () => {
        void status.load();
        void recent.load();
        void loadPeople();
      },
    ),
    onEvent((event) => {
      if (event.type === "resync") return void loadImports();
      if (event.type !== "import.progress" && event.type !== "import.ended") return;
      const state = event.data as unknown as ImportState;
      const others = imports.value.filter(({ id }) => id !== state.id);
      imports.value = [state, ...others];
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

export async function startImport(given: readonly File[] | string): Promise<void> {
  importFault.value = undefined;
  try {
    if (typeof given === "string") await importFolder(given);
    else {
      const total = given.reduce((sum, file) => sum + file.size, 0);
      upload.value = { sent: 0, total };
      await importFiles(given, (sent) => {
        upload.value = { sent, total };
      });
    }
    await loadImports();
  } catch (error) {
    importFault.value = explainError(error);
  } finally {
    upload.value = undefined;
  }
}
