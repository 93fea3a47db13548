export const exportFormats = ["jsonl", "markdown", "html"] as const;
export type ExportFormat = (typeof exportFormats)[number];
