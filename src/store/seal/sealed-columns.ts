/** The columns that hold what people and models wrote. The word index and the vectors cannot be sealed and searched. */
export const sealedColumns: Readonly<Record<string, readonly string[]>> = {
  entries: ["payload"],
  checkpoints: ["data"],
  files: ["name", "summary", "model_summary", "content"],
  summaries: ["content"],
  memories: ["abstract", "overview", "content"],
  memory_recalls: ["prompt", "block"],
  memory_reviews: ["candidate"],
  memory_files: ["content"],
  inbox: ["payload", "result"],
  notices: ["text"],
  cron_runs: ["log"],
  quarantine: ["raw"],
  secrets: ["text"],
};
