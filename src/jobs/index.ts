export { type JobHandler, JobWorker, type JobWorkerOptions } from "./worker.ts";
