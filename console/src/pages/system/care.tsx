/** Doctor and backups. */
import { useSignal } from "@preact/signals";
import { attempt, say } from "../../state/toasts.ts";
import { Fault, Time } from "../../ui/basics.tsx";
import { count, formatBytes, formatNumber } from "../../ui/format.ts";
import { repair, takeBackup } from "./queries.ts";
import { backups, doctor } from "./state.ts";

export function DoctorPanel() {
  const isRepairing = useSignal(false);
  const report = doctor.data.value;
  const canRepair = report?.findings.some(({ faults, fixable }) => faults.length > 0 && fixable);
  const fix = async () => {
    isRepairing.value = true;
    const done = await attempt(repair);
    isRepairing.value = false;
    if (!done) return;
    doctor.set(done);
    say(done.done.length === 0 ? "There was nothing to repair." : `Done: ${done.done.join("; ")}`);
  };
  return (
    <>
      <div class="row">
        <button type="button" class="button primary" disabled={doctor.loading.value} onClick={() => void doctor.load()}>
          {doctor.loading.value ? "Checking…" : "Run doctor"}
        </button>
        {canRepair && (
          <button type="button" class="button" disabled={isRepairing.value} onClick={() => void fix()}>
            {isRepairing.value ? "Repairing…" : "Repair, after a backup"}
          </button>
        )}
      </div>
      <Fault text={doctor.error.value} />
      {report && (
        <p role="status" class={report.healthy ? "healthy" : ""}>
          {report.healthy ? "All is well." : "Something needs attention."}
        </p>
      )}
      <ul class="plain findings">
        {report?.findings.map(({ check, faults, notes = [], checked, fixable }) => (
          <li key={check}>
            <span class={`tag ${faults.length === 0 ? "good" : "danger"}`}>
              {faults.length === 0 ? "well" : count(faults.length, "fault")}
            </span>
            <span>{check}</span>
            <span class="soft small">{formatNumber(checked)} checked</span>
            {faults.slice(0, 20).map((fault) => (
              <p key={fault} class="small fault-text">
                {fault}
              </p>
            ))}
            {notes.map((note) => (
              <p key={note} class="small soft">
                {note}
              </p>
            ))}
            {faults.length > 20 && (
              <p class="small soft">and {formatNumber(faults.length - 20)} more: `varve doctor` lists all</p>
            )}
            {faults.length > 0 && !fixable && (
              <p class="small soft">This cannot be repaired automatically: look at the messages above.</p>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

export function BackupsPanel() {
  const isRunning = useSignal(false);
  const run = async () => {
    isRunning.value = true;
    const done = await attempt(takeBackup);
    isRunning.value = false;
    if (done) say(`Backed up ${formatBytes(done.bytes)} to ${done.file}.`);
    await backups.load();
  };
  const list = backups.data.value;
  return (
    <>
      <button type="button" class="button primary" disabled={isRunning.value} onClick={() => void run()}>
        {isRunning.value ? "Backing up…" : "Back up now"}
      </button>
      <Fault text={backups.error.value} />
      {list?.length === 0 && <p class="soft">There is no backup yet.</p>}
      <ul class="plain findings">
        {list?.map(({ file, time, bytes }) => (
          <li key={file}>
            <span class="mono">{file}</span>
            <span class="soft small">
              {formatBytes(bytes)}, <Time value={time} />
            </span>
          </li>
        ))}
      </ul>
      <p class="soft small">
        To restore one: stop the gateway and run <code>varve restore FILE</code>.
      </p>
    </>
  );
}
