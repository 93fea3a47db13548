import { useEffect } from "preact/hooks";
import { isAdmin } from "../../api/login.ts";
import { loadPeople } from "../../state/owners.ts";
import { attempt } from "../../state/toasts.ts";
import { Fault, Figure, Time } from "../../ui/basics.tsx";
import { count, formatBytes, formatCompact, formatNumber, formatPercent } from "../../ui/format.ts";
import { Activity } from "./activity.tsx";
import { Begin } from "./begin.tsx";
import { ImportPanel } from "./import-panel.tsx";
import type { Status } from "./queries.ts";
import { Recent } from "./recent.tsx";
import { SpendChart } from "./spend.tsx";
import { followHome, loadImports, recent, status } from "./state.ts";
import { UnknownPeople } from "./unknown.tsx";
import "./home.css";

export function HomePage() {
  useEffect(() => {
    void status.load();
    void recent.load();
    void loadPeople();
    void attempt(loadImports);
    return followHome();
  }, []);
  const data = status.data.value;
  const isEmpty = data?.sessions === 0;
  return (
    <>
      <header>
        <h1>{isEmpty ? "A memory that loses nothing" : "What is kept"}</h1>
        {isEmpty && <p class="soft">It is empty. Three ways to begin:</p>}
      </header>
      <Fault text={status.error.value} onRetry={() => void status.load()} />
      <div class="stack">
        <UnknownPeople />
        {isEmpty && <Begin />}
        {data && !isEmpty && <Figures data={data} />}
        <div class="home-grid">
          <div class="stack">
            {isAdmin() && <ImportPanel />}
            <Recent />
            {data?.spend && !isEmpty && <SpendChart spend={data.spend} />}
          </div>
          <div class="stack">
            <Activity />
            {data && <Health data={data} />}
          </div>
        </div>
      </div>
    </>
  );
}

function Figures({ data }: { data: Status }) {
  const { search } = data;
  const covered = search && search.messages > 0 ? search.vectors / search.messages : undefined;
  const waiting = (data.jobs?.waiting ?? 0) + (data.jobs?.running ?? 0);
  return (
    <dl class="figures">
      {data.sessions !== undefined && <Figure name="Sessions" value={formatNumber(data.sessions)} />}
      {data.messages !== undefined && (
        <Figure
          name="Messages"
          value={formatNumber(data.messages)}
          note={data.tokens === undefined ? undefined : `${formatCompact(data.tokens)} tokens`}
        />
      )}
      {data.memories !== undefined && <Figure name="Memories" value={formatNumber(data.memories)} />}
      {data.summaries !== undefined && <Figure name="Summaries" value={formatNumber(data.summaries)} />}
      {covered !== undefined && (
        <Figure
          name="Embedded"
          value={search?.model === null ? "off" : formatPercent(Math.min(1, covered))}
          note={search?.serving ?? undefined}
        />
      )}
      {data.databaseBytes !== undefined && (
        <Figure name="Database" value={formatBytes(data.databaseBytes)} note={data.engine} />
      )}
      {data.jobs !== undefined && (
        <Figure
          name="Queue"
          value={formatNumber(waiting)}
          note={data.jobs.failed ? `${formatNumber(data.jobs.failed)} failed` : "jobs"}
        />
      )}
    </dl>
  );
}

function Health({ data }: { data: Status }) {
  const { models = [], jobs = {}, quarantined = 0, lastBackup } = data;
  return (
    <section class="card" aria-label="Health">
      <div class="spread">
        <h2>Health</h2>
        <a class="small" href="/system">
          System
        </a>
      </div>
      <ul class="plain health">
        {models.map((model) => (
          <li key={model.name}>
            <span class="mono">{model.name}</span>
            <span class={`tag ${model.paused ? "danger" : model.lastError ? "warn" : "good"}`}>
              {model.paused ? "paused" : model.lastError ? "had errors" : "well"}
            </span>
            {model.lastError !== undefined && <p class="soft small">{model.lastError}</p>}
          </li>
        ))}
        {models.length === 0 && <li class="soft">No model was used yet.</li>}
        {(jobs.failed ?? 0) > 0 && (
          <li>
            <a href="/system">{count(jobs.failed ?? 0, "failed job")}</a>
          </li>
        )}
        {quarantined > 0 && (
          <li>
            <a href="/system">{count(quarantined, "record")} in quarantine</a>
          </li>
        )}
        {lastBackup !== undefined && (
          <li>Last backup: {lastBackup === null ? "never" : <Time value={lastBackup.time} />}</li>
        )}
      </ul>
    </section>
  );
}
