import { canWrite } from "../../api/login.ts";
import { attempt, say } from "../../state/toasts.ts";
import { Empty, Fault, Time } from "../../ui/basics.tsx";
import { formatNumber } from "../../ui/format.ts";
import { describeKey } from "../../ui/session-title.ts";
import { type Job, retryJob } from "./queries.ts";
import { jobs } from "./state.ts";

export function JobsPanel() {
  const list = jobs.data.value;
  return (
    <>
      <Fault text={jobs.error.value} onRetry={() => void jobs.load()} />
      {list?.length === 0 && (
        <Empty title="No jobs wait">
          <p>Compaction, extraction and embedding run here after conversations.</p>
        </Empty>
      )}
      {list && list.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Job</th>
                <th scope="col">For</th>
                <th scope="col">State</th>
                <th scope="col">When</th>
                <th scope="col">Attempts</th>
                <th scope="col">
                  <span class="visually-hidden">Action</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.map((job) => (
                <JobRow key={job.id} job={job} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function JobRow({ job }: { job: Job }) {
  const retry = async () => {
    if (await attempt(() => retryJob(job.id))) say("The job waits again.");
    await jobs.load();
  };
  return (
    <tr>
      <td>{job.kind}</td>
      <td>
        {job.key.includes(":") ? (
          <a href={`/sessions/${encodeURIComponent(job.key)}`}>{describeKey(job.key)}</a>
        ) : (
          job.key
        )}
        {job.error !== undefined && <p class="small fault-text">{job.error}</p>}
      </td>
      <td>
        <span class={`tag ${job.state === "failed" ? "danger" : ""}`}>{job.state}</span>
      </td>
      <td>
        <Time value={job.state === "waiting" ? job.runAt : job.updatedAt} />
      </td>
      <td>{formatNumber(job.attempts)}</td>
      <td>
        {job.state === "failed" && canWrite() && (
          <button type="button" class="button" onClick={() => void retry()}>
            Retry
          </button>
        )}
      </td>
    </tr>
  );
}
