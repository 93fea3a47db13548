export { type JobHandler, JobWorker, type JobWorkerOptions, type Postponed } from "./worker.ts";
