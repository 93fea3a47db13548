import { useEffect } from "preact/hooks";
import { onChange } from "../../api/events.ts";
import { isAdmin, isUnlimited } from "../../api/login.ts";
import { people } from "../../state/owners.ts";
import { query, setQuery } from "../../state/router.ts";
import { Choice } from "../../ui/basics.tsx";
import { BackupsPanel, DoctorPanel } from "./care.tsx";
import { ClientsPanel, WarningsPanel } from "./clients.tsx";
import { JobsPanel } from "./jobs.tsx";
import { OwnersPanel } from "./owners.tsx";
import { SettingsPanel } from "./settings.tsx";
import { backups, clients, doctor, jobs, settings, tokens, warnings } from "./state.ts";
import { TokensPanel } from "./tokens.tsx";
import "./system.css";

const tabs = {
  jobs: { name: "Jobs", panel: JobsPanel, load: jobs.load },
  doctor: { name: "Doctor", panel: DoctorPanel, load: doctor.load },
  backups: { name: "Backups", panel: BackupsPanel, load: backups.load },
  owners: { name: "Owners", panel: OwnersPanel, load: people.load },
  tokens: { name: "Tokens", panel: TokensPanel, load: tokens.load },
  settings: { name: "Settings", panel: SettingsPanel, load: settings.load },
  clients: { name: "Clients", panel: ClientsPanel, load: clients.load },
  warnings: { name: "Warnings", panel: WarningsPanel, load: warnings.load },
} as const;
type Tab = keyof typeof tabs;

export function SystemPage() {
  const asked = query.value.get("tab") ?? "jobs";
  const names = (Object.keys(tabs) as Tab[]).filter(
    (name) => name === "jobs" || (isAdmin() && (name !== "owners" || isUnlimited())),
  );
  const tab = names.find((name) => name === asked) ?? "jobs";
  const { panel: Panel, load } = tabs[tab];
  useEffect(() => void load(), [tab]);
  useEffect(() => onChange(["jobs.changed", "job.failed", "turn.ended"], () => void jobs.load()), []);
  return (
    <>
      <header>
        <h1>Is all well?</h1>
      </header>
      <Choice
        name="Part"
        value={tab}
        options={names.map((name) => [name, tabs[name].name] as const)}
        onChange={(name) => setQuery({ tab: name === "jobs" ? "" : name }, false)}
      />
      <section class="system-panel stack" aria-label={tabs[tab].name}>
        <Panel />
      </section>
    </>
  );
}
