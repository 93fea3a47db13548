import type { FileRow } from "../../store/index.ts";

export type FileHead = Omit<FileRow, "content">;

/** What stands in the context instead of the content: what it is, how to read it, and what is in it. */
export function fileReference(file: FileHead): string {
  const facts = [
    ...(file.name === null ? [] : [file.name]),
    ...(file.mediaType === null ? [] : [file.mediaType]),
    file.kind,
    `${file.bytes} bytes`,
    `${file.lines} ${file.lines === 1 ? "line" : "lines"}`,
    `about ${file.tokens} tokens`,
  ].join(", ");
  return `[Large content ${file.id}: ${facts}. It is stored whole; read it with lcm_describe, by line range.]\n${file.summary}\n[End of ${file.id}]`;
}
