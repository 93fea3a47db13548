export {
  createJob,
  createJobService,
  type JobInfo,
  type JobQueue,
  type JobService,
  type JobServiceOptions,
} from "./job-service.ts";
export { type JobHandler, JobWorker, type JobWorkerOptions, type Postponed } from "./worker.ts";
