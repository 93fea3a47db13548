import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { call } from "../../api/client.ts";
import { attempt } from "../../state/toasts.ts";
import { Fault } from "../../ui/basics.tsx";
import { count, formatBytes, formatDuration, formatNumber } from "../../ui/format.ts";
import { type ImportState, listDropped } from "./queries.ts";
import { importFault, imports, startImport, upload } from "./state.ts";

/** Files dropped onto it, or a folder of the gateway's machine. */
export function ImportPanel() {
  const isOver = useSignal(false);
  const picker = useRef<HTMLInputElement>(null);
  const drop = async (event: DragEvent) => {
    event.preventDefault();
    isOver.value = false;
    if (!event.dataTransfer) return;
    const files = await listDropped(event.dataTransfer);
    if (files.length > 0) await startImport(files);
  };
  return (
    <section
      class={`card import ${isOver.value ? "over" : ""}`}
      aria-label="Import"
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={(event) => void drop(event)}
    >
      <h2>Import a history</h2>
      <p class="soft small">
        Drop transcripts of Claude Code, Codex, OpenClaw, pi, ChatGPT, Claude.ai or JSON lines here. Nothing is sent to
        anybody else.
      </p>
      <div class="row">
        <button type="button" class="button primary" onClick={() => picker.current?.click()}>
          Choose files
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to import"
          onChange={(event) => {
            const files = [...(event.currentTarget.files ?? [])];
            event.currentTarget.value = "";
            if (files.length > 0) void startImport(files);
          }}
        />
        <form
          class="row grow"
          onSubmit={(event) => {
            event.preventDefault();
            const folder = new FormData(event.currentTarget).get("folder");
            if (typeof folder === "string" && folder.trim() !== "") void startImport(folder.trim());
          }}
        >
          <input
            class="input grow"
            name="folder"
            aria-label="A folder on this machine"
            placeholder="or a folder on this machine: ~/.claude/projects"
          />
          <button type="submit" class="button">
            Import
          </button>
        </form>
      </div>
      <Fault text={importFault.value} />
      {upload.value && (
        <p class="small" role="status">
          Sending {formatBytes(upload.value.sent)} of {formatBytes(upload.value.total)}
        </p>
      )}
      {imports.value.slice(0, 4).map((one) => (
        <ImportRow key={one.id} state={one} />
      ))}
    </section>
  );
}

function ImportRow({ state }: { state: ImportState }) {
  const { progress, report } = state;
  const share = progress && progress.bytes > 0 ? progress.bytesDone / progress.bytes : 0;
  const passedMs = (state.endedAt ?? Date.now()) - state.startedAt;
  const leftMs = share > 0.02 ? (passedMs / share) * (1 - share) : undefined;
  return (
    <div class="import-row">
      <div class="spread">
        <strong class="small">{state.label}</strong>
        <span class={`tag ${state.state === "failed" ? "danger" : state.state === "done" ? "good" : ""}`}>
          {state.state}
        </span>
      </div>
      {state.state === "running" && (
        <>
          <div
            class="bar"
            role="progressbar"
            aria-label={`Import of ${state.label}`}
            aria-valuenow={Math.round(share * 100)}
            aria-valuemin={0}
            aria-valuemax={100}
          >
            <div style={{ width: `${share * 100}%` }} />
          </div>
          <p class="soft small">
            {progress
              ? `${count(progress.imported, "message")}, file ${Math.min(progress.filesDone + 1, progress.files)} of ${progress.files}`
              : "Reading"}
            {progress && passedMs > 500
              ? `, ${formatNumber(Math.round(progress.imported / (passedMs / 1000)))} a second`
              : ""}
            {leftMs !== undefined ? `, about ${formatDuration(leftMs)} left` : ""}{" "}
            <button
              type="button"
              class="chip"
              onClick={() => void attempt(() => call("POST /api/imports/{id}/stop", { params: { id: state.id } }))}
            >
              Stop
            </button>
          </p>
        </>
      )}
      {state.error !== undefined && <p class="notice danger">{state.error}</p>}
      {report && (
        <p class="small">
          {count(report.imported, "message")} from {count(report.files, "file")} in{" "}
          <a href="/sessions">{count(report.sessions, "session")}</a>; {formatNumber(report.duplicates)} were known
          already.
        </p>
      )}
      {report && report.broken.length + report.skipped.length > 0 && (
        <details class="small">
          <summary>
            Set aside: {count(report.quarantined, "record")}, {count(report.skipped.length, "file")} of an unknown
            format
          </summary>
          <ul>
            {report.broken.map(({ path, record, reason }) => (
              <li key={`${path} ${record}`}>
                {path}, record {record}: {reason}
              </li>
            ))}
            {report.skipped.map((name) => (
              <li key={name}>{name}: the format is not known</li>
            ))}
          </ul>
        </details>
      )}
      {report?.remarks.map((remark) => (
        <p key={remark} class="soft small">
          {remark}
        </p>
      ))}
    </div>
  );
}
